// Removes a body everywhere on the site, also when it arrives again, and reports the copies that it cannot reach.
import * as z from 'zod'
import type { PurgeResult } from '../../../kernel/messaging/custody.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { custodyOf } from '../custody.ts'
import { backupCopiesPart } from '../parts.ts'

const hex96 = z.string().regex(/^[0-9a-f]{96}$/, 'must be 96 lower-case hexadecimal digits')

const purgeResponse = z
  .discriminatedUnion('state', [
    z.strictObject({ state: z.literal('running') }),
    z.strictObject({
      state: z.literal('done'),
      bodies: z.array(z.string()).meta({ description: 'SHA-384 of the bodies to remove' }),
      places: z.array(z.string()).meta({ description: 'Places from which they were removed since the order' }),
      msg_ids: z.array(z.string()).meta({ description: 'The messages that contained them' }),
      sessions: z.array(z.string()).meta({ description: 'The sessions that these messages belonged to' }),
      backups: z.array(z.strictObject({ name: z.string(), holds: z.enum(['yes', 'unknown']) })),
      remains: z.array(z.string()).meta({ description: 'Copies that may still be recoverable, and where' }),
    }),
  ])
  .meta({ id: 'PurgeAnswer', description: 'Progress of a purge; repeat the request for the result' })

export const purge = operation({
  summary: 'Remove a body from the site permanently, by its digest or that of its statement',
  method: 'POST',
  path: '/api/v2/site/message/purge',
  input: z.strictObject({ digest: hex96.meta({ description: 'SHA-384' }), reason: requiredText(1_000) }),
  output: purgeResponse,
  errors: ['unavailable'],
  allow: 'message:purge',

  async run(call, { digest, reason }) {
    const event = call.audited('site.message.purge', digest, { reason })
    const purged = await custodyOf(call).purge(digest, reason, [event])
    if (purged === 'running') return { state: 'running' as const }
    const { bodies, places, msg_ids, sessions } = purged
    const copies = await call.part(backupCopiesPart).holding([digest, ...bodies])
    const backups = copies.flatMap(({ name, holds }) => (holds === 'no' ? [] : [{ name, holds }]))
    const finds = {
      places: places.slice(0, max_audited_items),
      msg_ids: msg_ids.slice(0, max_audited_items),
      found: places.length,
    }
    await call.record([call.audited('site.message.purged', digest, { bodies, ...finds, backups: backups.length })])
    const removed = { bodies: [...bodies], places: [...places], msg_ids: [...msg_ids], sessions: [...sessions] }
    return { state: 'done' as const, ...removed, backups, remains: remainsOf(purged) }
  },
})

/** Limit that keeps an audit record small. */
const max_audited_items = 100

function remainsOf({ journal, sessions }: PurgeResult): string[] {
  return [
    'blocks that a disk or SSD has not overwritten: only encryption, or its destruction, reaches them',
    'backups and copies outside the site: media, mirrors, the file system’s own snapshots',
    'copies that a carrier took before: in its folders, on media in transit, at the peer',
    'copies that other roles have yet to send: sending them will be refused',
    ...(sessions.length > 0
      ? ['derived data in the named sessions: their contributions with the messages that prove them, and evidence']
      : []),
    ...journalRemains[journal],
  ]
}

const journalRemains: Readonly<Record<PurgeResult['journal'], readonly string[]>> = {
  rewritten: [],
  zeroed: ['free pages of the journal written by version 0.1.0: the journal is too large to be rewritten'],
  busy: ['the write-ahead log of the journal, until it is written out: repeat this when the site is less busy'],
}
