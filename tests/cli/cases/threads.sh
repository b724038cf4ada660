# Idle OpenMP threads do not spin, unless the user configures it; child processes inherit the environment.
spins() { OMP_DISPLAY_ENV=verbose "$@" 2>&1 | sed -n 's/.*\(GOMP_SPINCOUNT = .*\)/\1/p'; }
unset OMP_WAIT_POLICY
spins enhope --version
GOMP_SPINCOUNT=7 spins enhope --version
OMP_WAIT_POLICY=active spins enhope --version
env -i "$(command -v enhope)" --version | sed 's/ .*//'
