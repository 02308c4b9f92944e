#!/usr/bin/env bash
# How workspace.tar.xz was made, by the program of commit 0fef7f3: `made.sh CHECKOUT FOLDER PYTHON`.
# CHECKOUT is a worktree of that commit, FOLDER a new one, PYTHON an interpreter with the packages that it needs.
set -euo pipefail
mkdir "$2"; cd "$2"
export HOME=$PWD PYTHONPATH=$1 TZ=UTC WORKBENCH_TIMEZONE=UTC LANG=C.UTF-8
at() { WORKBENCH_NOW=$1 "$python" -m workbench -w "$HOME/memory" "${@:2}" > /dev/null; }
python=$3

at 2026-03-02T09:00:00Z init
at 2026-03-02T09:10:00Z remember "Mira pays within 30 days" --entity person:Mira --store episodic
at 2026-03-02T09:20:00Z message "remember that we decided to move the berth to number seven"
at 2026-03-02T09:30:00Z core add "Critical Facts" "The harbour closes in January"
at 2026-03-02T09:40:00Z remember "To deploy: run the tests, tag the release, watch the map"
at 2026-03-02T09:50:00Z pin episode:2026-03-02:09:20
at 2026-03-02T10:00:00Z remember "The crane is broken"
at 2026-03-02T10:10:00Z forget episode:2026-03-02:10:00 --yes
at 2026-03-03T08:00:00Z propose "Mira prefers letters to calls" --as scout --entity person:Mira
at 2026-03-03T08:10:00Z reflect
at 2026-03-03T08:20:00Z review approve r-001.3
at 2026-03-03T08:30:00Z review apply --yes
printf '# Soul\n\nBe kind.\n' > memory/SOUL.md
at 2026-03-03T08:40:00Z audit log
at 2026-03-03T08:50:00Z search berth
tar cJf workspace.tar.xz memory .local .cache
