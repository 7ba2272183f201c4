// Verifies audit chains: the site's against its signed checkpoints, or an export on any machine.
import { offline } from '../../../daemon/offline/offline.ts'
import { createExportKeyFinder, exportKeysOption } from '../../options/export-keys.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../options/site-options.ts'
import { type CommandExitCode, CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { colourText, formatFields, line_break, paragraph_break, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'audit verify',
  summary: 'Verify audit chains against what the site signed',
  notes: [
    'Finds the first altered, missing or reordered record; exit code 5: there is one. Without FILE, reads the',
    'databases of the site, whether or not it runs. A role that runs alone, such as a proxy, has no checkpoints:',
    'pass an earlier export, kept elsewhere, as --exported to prove that no record was cut off or rewritten. An',
    'export is whole when it is exactly what the site signed at its end: without that line, or without keys of that',
    'site (pinned here, or --keys), nothing is proven, and the exit code is 5.',
  ].join('\n'),
  positionals: { file: text('FILE', 'JSON lines of `platform audit export`') },
  options: {
    ...exportKeysOption,
    exported: text('FILE', 'Earlier export: each chain must still contain its last record'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform audit verify audit.jsonl --keys alpha-keys.json',
  async run(params, terminal) {
    const { file, exported, keys } = params
    if (file !== undefined && exported !== undefined)
      throw new CommandFailure(
        2,
        'FILE and --exported cannot be combined',
        'leave out FILE to compare the site with --exported',
      )
    if (file === undefined && keys !== undefined)
      throw new CommandFailure(2, '--keys is for an export; the site is verified with its own keys')
    if (file !== undefined) return await verifyExport(file, params, terminal)
    const { verifyAuditChains } = await offline.audit()
    const folder = await requireWholeSite(params, terminal, [exported])
    const chains = await verifyAuditChains(folder, terminal.env, (line) => terminal.progress(line), exported)
    terminal.progress('')
    const isWhole = chains.every(({ faults }) => faults.length === 0)
    printResult(
      terminal,
      params.json,
      { whole: isWhole, chains },
      () => formatChains(terminal, chains) || 'no records yet',
    )
    return isWhole ? 0 : 5
  },
})

async function verifyExport(
  file: string,
  params: { readonly keys: string | undefined; readonly site: string | undefined; readonly json: boolean },
  terminal: Terminal,
): Promise<CommandExitCode> {
  const { verifyAuditExport } = await offline.auditExportVerification()
  const verdict = await verifyAuditExport(file, await createExportKeyFinder(params, terminal))
  const { whole, faults, chains, signed_by } = verdict
  const verdictText = whole
    ? colourText(terminal, 'green', 'exactly what the site signed')
    : colourText(terminal, 'red', 'not proven to be what the site signed')
  printResult(terminal, params.json, verdict, () =>
    [
      formatFields(terminal, {
        export: verdictText,
        ...verdict.export,
        signed_by: signed_by.join(', ') || undefined,
        faults: faults.join('; ') || undefined,
      }),
      formatChains(terminal, chains),
    ]
      .filter((part) => part !== '')
      .join(paragraph_break),
  )
  return whole ? 0 : 5
}

type ChainLine = {
  readonly writer: string
  readonly records: number
  readonly checkpoints: number
  readonly faults: readonly string[]
  readonly first?: number
  readonly last?: number
}

function formatChains(terminal: Terminal, chains: readonly ChainLine[]): string {
  return chains.map((chain) => formatChain(terminal, chain)).join(line_break)
}

function formatChain(terminal: Terminal, { writer, records, checkpoints, faults, first, last }: ChainLine): string {
  if (faults.length > 0) return `${colourText(terminal, 'red', 'fault')} ${writer}: ${faults.join('; ')}`
  const range = first === undefined ? '' : ` (${first} to ${last})`
  return `${colourText(terminal, 'green', 'whole')} ${writer}: ${records} records${range}, ${checkpoints} checkpoints`
}
