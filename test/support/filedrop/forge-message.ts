// Makes messages that a well-behaved sender never would, with that sender's real key.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { no_predecessor } from '../../../adapters/transport/filedrop/checks/sequence-check.ts'
import type { Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { buildLabel, type FiledropSites, listChannelFolders, start_ms } from './filedrop-sites.ts'

export type ForgeryOptions = {
  readonly seq?: number
  readonly epoch?: number
  /** Laid over the statement; a member that is undefined is left out. */
  readonly statement?: Readonly<Record<string, unknown>>
  /** The body's text; it is signed for, unless `placed` differs. */
  readonly body?: string
  /** The content of the body's file in place of the signed one. */
  readonly placed?: string | Buffer
  /** Changes the text of the statement before it is signed. */
  readonly rewrite?: (payload: string) => string
  /** Changes the envelope's text after signing. */
  readonly envelope?: (text: string) => string
  readonly signatures?: Signatures
  /** The name of the files, when not that of the statement. */
  readonly stem?: string
}

export type ForgedMessage = { stem: string; envelope: string; body: string | Buffer; digest: string }

export async function forgeMessage(sites: FiledropSites, options: ForgeryOptions = {}): Promise<ForgedMessage> {
  const { seq = 1, epoch = 1 } = options
  const label = buildLabel(sites.bravo.tenant_id)
  const body = options.body ?? canonicalJson({ label, schema: 'test.v1', data: { seq } })
  const statement = {
    v: 1,
    type: 'platform.message',
    channel: 'filedrop/alpha/bravo',
    src: 'alpha',
    dst: 'bravo',
    sender_tenant_id: sites.alpha.tenant_id,
    receiver_tenant_id: sites.bravo.tenant_id,
    epoch,
    seq,
    prev: no_predecessor,
    msg_id: `msg_${String(seq).padStart(32, '0')}`,
    kind: 'contribution',
    created: new Date(start_ms).toISOString(),
    not_after: new Date(start_ms + 7 * 86_400_000).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: 'test.v1' },
    label,
    parent_block_ids: [],
    max_hops: 1,
    ...options.statement,
  }
  const text = (options.rewrite ?? String)(canonicalJson(statement))
  const signed = await (options.signatures ?? sites.alpha.signatures).sign('statement', Buffer.from(text))
  const envelope = (options.envelope ?? String)(`${JSON.stringify(signed)}\n`)
  const stem = options.stem ?? `${String(epoch).padStart(8, '0')}-${String(seq).padStart(16, '0')}`
  return { stem, envelope, body: options.placed ?? body, digest: sha384(text) }
}

/** Puts a forgery where bravo looks. */
export function dropMessage(sites: FiledropSites, { stem, envelope, body }: ForgedMessage): void {
  const { fresh } = listChannelFolders(sites.bravo, 'alpha')
  fs.writeFileSync(join(fresh, `${stem}.body.json`), body)
  fs.writeFileSync(join(fresh, `${stem}.env.json`), envelope)
}
