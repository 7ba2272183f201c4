// Shows the evidence block of a ratified session, or writes it to a file that stands alone.
import type { Client } from '../../client/client.ts'
import { command, Failure } from '../../command.ts'
import { fields, type Row, show, table } from '../../output.ts'
import { writeOutputFile } from '../../output-file.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'evidence show',
  summary: 'the evidence block of a ratified session',
  takes: { id: needed(text('ID', 'a block, or a session whose block is meant')) },
  options: { out: text('FILE', 'write the block there, where no file may be yet'), ...serviceOptions },
  example: 'platform evidence show ses_… --out evidence.json',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const block = await api.call('consensus.evidence.get', { block_id: await blockOf(api, given.id) })
    const { out } = given
    if (out !== undefined) {
      writeOutputFile(out, `${JSON.stringify(block)}\n`)
      show(terminal, given.json, { file: out, block_id: block.block_id }, () => `${out} holds block ${block.block_id}`)
      return 0
    }
    const { contributions, policy, label, result, keys: _keys, ...content } = block.content as Row
    const columns = ['contributor_id', 'pair_score', 'accuracy', 'credibility', 'signer_key_id']
    show(terminal, given.json, block, () =>
      [
        fields(terminal, {
          block_id: block.block_id,
          ...content,
          ...(result as Row),
          level: (label as Row).level,
          policy,
        }),
        '',
        table(terminal, contributions as readonly Row[], columns, 'no contributions'),
      ].join('\n'),
    )
    return 0
  },
})

async function blockOf(api: Client, id: string): Promise<string> {
  if (!id.startsWith('ses_')) return id
  const session = await api.call('consensus.session.get', { id })
  if (typeof session.evidence_block_id === 'string') return session.evidence_block_id
  if (session.state === 'RATIFIED') throw new Failure(4, 'the block is not signed yet', 'repeat in a moment')
  throw new Failure(3, `the session is ${session.state}; only a ratified one has evidence`)
}
