// Writes docs/doctor.md from the codes of the doctor.
import { doctorCodes } from '../../../daemon/offline/doctor/doctor-codes.ts'

const head = `# Doctor and support bundle

Generated from the code by \`npm run accept\`; do not edit the table.

    platform doctor
    platform doctor --json

\`doctor\` examines the site, whether or not it runs. Each finding has a stable code, a sentence, and a remedy unless it is \`ok\`; in JSON
also the paths that it concerns. Exit code 0: no problem, perhaps warnings, which announce a problem of the next month. Exit code 5: a
problem. Scripts and alarms may rest on codes: a code keeps its meaning, and an upgrade removes none that it does not name in
[CHANGELOG.md](../CHANGELOG.md).

## Support bundle

    platform support --out support.json --log serve.log

The command writes one JSON file for another person to diagnose the site with: findings of the doctor, settings with their origin, names and
dates of keys, peers, names, sizes and modes of files, health and metrics of running roles, and the last 5,000 lines of each log
that is named. Under systemd write them to a file first: \`journalctl -u 'platform-*' -n 5000 > serve.log\`.

Not in it: private keys, passphrases, tokens, passwords, values of secret settings, documents, records and messages. Secrets in lines
of logs are replaced by the name of their field and by their look. In it: names of sites, people, folders and addresses. Read it before
it leaves the site.

## Codes
`

export function formatDoctorCodes(): string {
  const rows = Object.entries(doctorCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  return [head, '| code | meaning |', '|---|---|', ...rows, ''].join('\n')
}
