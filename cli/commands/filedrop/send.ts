// Hands a message to a peer's channel; it is durable, and goes out with the next carrier.
import { randomBytes } from 'node:crypto'
import { offline } from '../../../daemon/boot/offline.ts'
import { labelOf } from '../../../daemon/kernel/label.ts'
import { sentKind } from '../../../daemon/kernel/transport.ts'
import { classificationOf, classificationOptions } from '../../classification.ts'
import { command, Failure } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { fields, show } from '../../output.ts'
import { choice, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { requireSite } from '../../site.ts'

export const definition = command({
  words: 'filedrop send',
  summary: 'send a message to a peer',
  notes: 'The peer only gets what is releasable to it: name it, or its tenant, with --releasable-to.',
  takes: {
    peer: needed(text('PEER', 'the peer’s site name')),
    file: text('FILE', 'the body, one JSON object; else stdin'),
  },
  options: {
    kind: needed(choice('KIND', 'what it is', sentKind.options)),
    schema: needed(text('NAME', 'the schema that the body follows')),
    eventId: text('ID', 'a repeat with the same id sends nothing twice'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform filedrop send bravo signal.json --kind signal --schema signal/1 --releasable-to acme,bravo',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { siteSettings } = await offline.profile()
    const { labels, platform } = siteSettings(folder, terminal.env)
    const label = labelOf(await classificationOf(given, terminal), labels, platform.tenant_id)
    if (!label) throw new Failure(2, `--classification must be one of ${labels.levels.join(', ')}`)
    const content = given.file === undefined ? await terminal.readInput() : readInputFile(given.file)
    const api = await service(given, terminal)
    const sent = await api.call('site.message.send', {
      peer: given.peer,
      event_id: given.eventId ?? `cli:${randomBytes(16).toString('hex')}`,
      kind: given.kind,
      schema: given.schema,
      body: bodyOf(content ?? ''),
      label,
      parent_block_ids: [],
    })
    show(terminal, given.json, sent, () => fields(terminal, sent))
    return 0
  },
})

function bodyOf(content: string): Record<string, unknown> {
  let body: unknown
  try {
    body = JSON.parse(content)
  } catch {
    throw new Failure(2, 'the body is not JSON')
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw new Failure(2, 'the body must be one JSON object')
}
