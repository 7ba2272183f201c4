// Shows the evidence block of a ratified session, or writes it to a file that can be verified offline.
import type { ServiceClient } from '../../client/client.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, formatTable, line_break, type OutputRow, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'evidence show',
  summary: 'Show the evidence block of a ratified session',
  positionals: { id: required(text('ID', 'Id of a block, or of the session that it belongs to')) },
  options: { out: text('FILE', 'File to create for the block (default: it is printed)'), ...serviceOptions },
  example: 'platform evidence show ses_… --out evidence.json',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const block = await api.call('consensus.evidence.get', { block_id: await resolveBlockId(api, params.id) })
    const { out } = params
    if (out !== undefined) {
      writeOutputFile(out, `${JSON.stringify(block)}\n`)
      printResult(
        terminal,
        params.json,
        { file: out, block_id: block.block_id },
        () => `${out} holds block ${block.block_id}`,
      )
      return 0
    }
    const { contributions, policy, label, result, record, lineage = [], ...content } = block.content as OutputRow
    const { superseded: _superseded, ...recorded } = record as OutputRow
    const rows = (contributions as readonly OutputRow[]).map((each) => ({ ...each, proof: proofTypeOf(each) }))
    const columns = ['contributor_id', 'pair_score', 'accuracy', 'credibility', 'signer_key_id', 'proof']
    printResult(terminal, params.json, block, () =>
      [
        formatFields(terminal, {
          block_id: block.block_id,
          ...content,
          ...(result as OutputRow),
          level: (label as OutputRow).level,
          policy,
          record: recorded,
        }),
        '',
        formatTable(terminal, rows, columns, 'no contributions'),
        ...formatLineage(terminal, lineage as readonly OutputRow[]),
      ].join(line_break),
    )
    return 0
  },
})

/** The blocks that the session names itself; `parent_block_ids` has those of the messages as well. */
function formatLineage(terminal: Terminal, lineage: readonly OutputRow[]): string[] {
  return lineage.length === 0 ? [] : ['', formatTable(terminal, lineage, ['relation', 'block_id'], '')]
}

function proofTypeOf({ proof }: OutputRow): unknown {
  return (proof as OutputRow | undefined)?.type
}

async function resolveBlockId(api: ServiceClient, id: string): Promise<string> {
  if (!id.startsWith('ses_')) return id
  const session = await api.call('consensus.session.get', { id })
  if (typeof session.evidence_block_id === 'string') return session.evidence_block_id
  if (session.state === 'RATIFIED')
    throw new CommandFailure(4, 'the block is not signed yet', 'run it again in a moment')
  throw new CommandFailure(3, `the session is ${session.state}; only a ratified one has evidence`)
}
