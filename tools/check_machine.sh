#!/bin/sh
# Says what the machine lacks, with the Debian command that installs it. Usage: check_machine.sh PYTHON
python=$1
missing=
lack() {
  echo "Coprime needs $1. On Debian: apt-get install $2" >&2
  missing=yes
}
if ! command -v "$python" >/dev/null 2>&1; then
  lack "Python 3.11 or newer ($python is not here)" "python3 python3-venv"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  lack "Python 3.11 or newer ($python is $("$python" -V 2>&1))" "python3 python3-venv"
elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
  lack "Python's venv module" "python3-venv"
fi
found=
for compiler in ${CXX:-} c++ g++ clang++; do
  if command -v "$compiler" >/dev/null 2>&1; then
    found=yes
    break
  fi
done
[ -n "$found" ] || lack "a C++ compiler" "g++"
[ -z "$missing" ]
