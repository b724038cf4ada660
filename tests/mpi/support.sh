# For the tests over ranks: `folder`, a place of their own, and `limited R COMMAND...`, which runs R ranks and never hangs.
if ! command -v mpirun > /dev/null; then
    echo "skipped: there is no mpirun (scripts/setup mpi installs it)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# mpirun's own temporary files have long paths, sockets among them
export TMPDIR=/tmp OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

limited()
{
    local ranks=$1
    shift
    timeout -k 5 100 mpirun --oversubscribe --bind-to none -n "$ranks" "$@"
    local code=$?
    if [ $code = 124 ] || [ $code = 137 ]; then echo "$ranks ranks hang: $*" >&2; fi
    return $code
}
