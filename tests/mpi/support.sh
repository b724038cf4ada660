# Common parts of the tests with ranks: `folder`, a temporary folder, and `limited R COMMAND...`, which runs a command on
# R ranks with a time limit.
if ! command -v mpirun > /dev/null; then
    echo "skipped: mpirun is not installed (scripts/setup mpi installs it)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# mpirun adds long names, sockets among them: keep the path short
export TMPDIR=/tmp OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

limited()
{
    local ranks=$1
    shift
    timeout -k 5 300 mpirun --oversubscribe --bind-to none -n "$ranks" "$@"
    local code=$?
    if [ $code = 124 ] || [ $code = 137 ]; then echo "$ranks ranks hang: $*" >&2; fi
    return $code
}
