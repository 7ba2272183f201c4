// Queues a message on a peer's channel, durably; the next carrier takes it.

import { randomBytes } from 'node:crypto'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { completeLabel } from '../../../daemon/kernel/label/label.ts'
import { sendableKind } from '../../../daemon/kernel/messaging/statement.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { requireSite } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop send',
  summary: 'Send a message to a peer',
  notes: 'A peer receives only what is releasable to it: name the peer or its tenant with --releasable-to.',
  positionals: {
    peer: required(text('PEER', 'Site name of the peer')),
    file: text('FILE', 'Message body, one JSON object (default: stdin)'),
  },
  options: {
    kind: required(choice('KIND', 'Kind of message', sendableKind.options)),
    schema: required(text('NAME', 'Schema of the body')),
    eventId: text('ID', 'Idempotency id: a repeat with the same id sends nothing'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform filedrop send bravo signal.json --kind signal --schema signal/1 --releasable-to acme,bravo',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { readSiteSettings } = await offline.profile()
    const { labels, platform } = readSiteSettings(folder, terminal.env)
    const label = completeLabel(await resolveClassification(given, terminal), labels, platform.tenant_id)
    if (!label) throw new CommandFailure(2, `--classification must be one of ${labels.levels.join(', ')}`)
    const content = given.file === undefined ? await terminal.readInput() : readInputFile(given.file)
    const api = await connectService(given, terminal)
    const sent = await api.call('site.message.send', {
      peer: given.peer,
      event_id: given.eventId ?? `cli:${randomBytes(16).toString('hex')}`,
      kind: given.kind,
      schema: given.schema,
      body: parseMessageBody(content ?? ''),
      label,
      parent_block_ids: [],
    })
    printResult(terminal, given.json, sent, () => formatFields(terminal, sent))
    return 0
  },
})

function parseMessageBody(content: string): Record<string, unknown> {
  const body = parseJson(content)
  if (body === undefined) throw new CommandFailure(2, 'the body is not JSON')
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw new CommandFailure(2, 'the body must be one JSON object')
}
