// Queues a message on a peer's channel, durably; the next carrier takes it.

import { randomBytes } from 'node:crypto'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { completeLabel } from '../../../daemon/kernel/label/label.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { requireOwnSite } from '../../options/site-options.ts'
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
    kind: required(choice('KIND', 'Kind of message', messageKinds.sendable)),
    schema: required(text('NAME', 'Schema of the body')),
    eventId: text('ID', 'Idempotency id: a repeat with the same id sends nothing'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform filedrop send bravo signal.json --kind signal --schema signal/1 --releasable-to acme,bravo',
  async run(params, terminal) {
    const fileText = params.file === undefined ? undefined : readInputFile(params.file)
    const folder = requireOwnSite(params, terminal)
    const { readSiteSettings } = await offline.profile()
    const { labels, platform } = readSiteSettings(folder, terminal.env)
    const label = completeLabel(await resolveClassification(params, terminal), labels, platform.tenant_id)
    if (!label) throw new CommandFailure(2, `--classification must be one of ${labels.levels.join(', ')}`)
    const content = fileText ?? (await terminal.readInput())
    const api = await connectService(params, terminal)
    const receipt = await api.call('site.message.send', {
      peer: params.peer,
      event_id: params.eventId ?? `cli:${randomBytes(16).toString('hex')}`,
      kind: params.kind,
      schema: params.schema,
      body: parseMessageBody(content ?? ''),
      label,
      parent_block_ids: [],
    })
    printResult(terminal, params.json, receipt, () => formatFields(terminal, receipt))
    return 0
  },
})

function parseMessageBody(content: string): Record<string, unknown> {
  const body = parseJson(content)
  if (body === undefined) throw new CommandFailure(2, 'the body is not valid JSON; it must be one JSON object')
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw new CommandFailure(2, 'the body must be one JSON object')
}
