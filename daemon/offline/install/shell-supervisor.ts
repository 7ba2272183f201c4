// A supervisor in POSIX shell, for machines without systemd: starts each role as its user, and again after a failure.
import { roles } from '../../roles.ts'
import { type InstallationAnswers, roleUser } from './answers.ts'
import { layout } from './layout.ts'

/** The values are names and paths without a character that a shell reads otherwise: see `installationAnswers`. */
export function renderSupervisor(answers: InstallationAnswers): string {
  const { site, users } = answers
  const names = roles.map(({ name }) => name).filter((name) => site.roles.includes(name))
  const starts = names.map((name) => `supervise ${name} ${roleUser(answers, name)} &\npids="$pids $!"`)
  return `#!/bin/sh
# Made by platform install. Runs the roles of the site until SIGTERM or SIGINT, as root; logs go to standard error.
set -u

# A role that ends by itself is started again, after 1, 2, 4, … 60 seconds; one that ran for a minute begins at 1.
supervise() {
  pause=1 child=
  trap 'trap "" TERM; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null; wait; exit 0' TERM
  while :; do
    began=$(date +%s)
    setpriv --reuid "$2" --regid ${users.group} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- \\
      ${layout.command} serve "$1" --site ${site.folder} &
    child=$!
    wait "$child"
    code=$? child=
    [ $(($(date +%s) - began)) -lt 60 ] || pause=1
    echo "platform: the role $1 ended with $code; it starts again in $pause s" >&2
    sleep "$pause" & wait $!
    pause=$((pause * 2))
    [ "$pause" -le 60 ] || pause=60
  done
}

umask 077
cd /
pids=
trap 'trap "" TERM INT; kill -TERM $pids 2>/dev/null; wait; exit 0' TERM INT
${starts.join('\n')}
wait
`
}
