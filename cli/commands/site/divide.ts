// Changes the owner of each role's files to the user that the role runs as.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { formatTable, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'site divide',
  summary: 'Assign each role’s files to the user that it runs as',
  notes: [
    'Run it as root, while the site does not run. Follows platform.os_group and platform.os_users of the profile.',
    'Run it again after a change of these, or to repair owners and modes.',
  ].join('\n'),
  options: { ...siteOption, ...jsonOption },
  example: 'platform site divide --site /var/lib/platform/alpha',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const { divideSite } = await offline.siteDivision()
    const division = await divideSite(folder, terminal.env, Date.now())
    printResult(terminal, params.json, division, () =>
      [
        formatTable(terminal, division.users, ['role', 'user', 'uid'], 'no users'),
        `changed ${division.changes} paths`,
      ].join(line_break),
    )
    return 0
  },
})
