// Checks every page, document and audit record of the site's databases.
import { offline, type StoreCheckResult } from '../../../daemon/offline/offline.ts'
import { jsonOption, locateSite, requireSite, roleOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { runAsOwners } from '../../program/run-as-owners.ts'
import { colourText, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'store check',
  summary: 'Check every page, document and audit record of the databases',
  notes: 'Exit code 5: a database is damaged. Works while the site runs; a large site takes a while.',
  options: { ...roleOption, ...siteOption, ...jsonOption },
  example: 'platform store check',
  async run(params, terminal) {
    const words = ['store', 'check']
    const folder = locateSite(params, terminal)
    const items =
      (params.role === undefined && (await runAsOwners<StoreCheckResult>({ words, ...params, folder, terminal }))) ||
      (await checkHere(params, terminal))
    terminal.progress('')
    const isSound = items.every(({ faults }) => faults.length === 0)
    printResult(
      terminal,
      params.json,
      { sound: isSound, items },
      () =>
        items
          .flatMap(({ role, faults }) =>
            faults.length === 0
              ? [`${colourText(terminal, 'green', 'sound')} ${role}`]
              : faults.map((fault) => `${colourText(terminal, 'red', 'fault')} ${role}: ${fault}`),
          )
          .join('\n') || 'the site has no data yet',
    )
    return isSound ? 0 : 5
  },
})

async function checkHere(
  params: { readonly site: string | undefined; readonly role: string | undefined },
  terminal: Terminal,
): Promise<StoreCheckResult[]> {
  const folder = requireSite(params, terminal)
  const { checkDatabases } = await offline.store()
  return await checkDatabases(folder, terminal.env, (text) => terminal.progress(text), params.role)
}
