// Removes what `platform install` made, and keeps the site and its backups.
import { resolve } from 'node:path'
import { offline } from '../../daemon/offline/offline.ts'
import { requireConsent } from '../confirmation/require-consent.ts'
import { jsonOption } from '../options/site-options.ts'
import { command } from '../program/command.ts'
import { flag, text, withDefault } from '../program/params.ts'
import { formatTable, line_break, printResult } from '../terminal/output.ts'

export const definition = command({
  words: 'uninstall',
  summary: 'Remove what platform install made, and keep the data',
  notes:
    'Stops the roles. The site, its backups, the answers file, the users, and files that were changed since the installation stay.',
  options: {
    plan: flag('Print the steps and change nothing'),
    root: withDefault('/', text('DIR', 'Folder that stands for / of the machine, such as that of an image')),
    yes: flag('Skip the confirmation'),
    ...jsonOption,
  },
  example: 'platform uninstall --plan',
  async run(params, terminal) {
    const { applyRemoval, planRemoval } = await offline.removal()
    const root = resolve(params.root)
    const { record, steps: planned } = planRemoval(root)
    if (!params.plan)
      await requireConsent(terminal, params.yes, `Remove the installation of version ${record.version}?`)
    const steps = params.plan ? planned : applyRemoval(root)
    const kept = steps.filter(({ action }) => action === 'keep')
    const stays = { site: record.site, users: record.users, group: record.group }
    printResult(terminal, params.json, { steps, stays }, () =>
      [
        formatTable(
          terminal,
          params.plan ? steps : kept,
          ['action', 'kind', 'path', 'detail'],
          'nothing was changed by hand',
        ),
        `${steps.length - kept.length} paths ${params.plan ? 'to remove' : 'removed'}, ${kept.length} kept; the site in ${record.site} and its users stay`,
      ].join(line_break),
    )
    return 0
  },
})
