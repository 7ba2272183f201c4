// A pinned peer that holds its own keys and signs whatever it likes: its messages land in the honest site's folder.
import { createPrivateKey, randomBytes, sign as signBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey, listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { no_predecessor } from '../../../adapters/transport/filedrop/checks/sequence-check.ts'
import type { Jws, PublicKey, SignatureType } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import { inventory_schema } from '../../../daemon/kernel/messaging/inventory.ts'
import type { MessageKind } from '../../../daemon/kernel/messaging/message-kind.ts'
import { noon } from '../../support/clock/simulated-clock.ts'

type Fields = Readonly<Record<string, unknown>>

export type InsiderForgery = {
  /** The number that follows the highest sent so far, by default. */
  readonly seq?: number
  readonly epoch?: number
  /** Laid over the statement; a member that is undefined is left out. */
  readonly statement?: Fields
  readonly label?: Label
  /** Laid over the body. */
  readonly body?: Fields
  /** Changes the text of the body before it is signed for. */
  readonly rewrite?: (text: string) => string
  /** The name of the files, when not that of the statement. */
  readonly stem?: string
}

export type InsiderMessage = {
  readonly stem: string
  readonly envelope: Jws
  readonly body: string
  readonly digest: string
}

export type InsiderPeer = {
  readonly name: string
  readonly tenant_id: string
  readonly keys: readonly PublicKey[]
  /** The label of its honest messages: released to the honest site, below the ceiling. */
  readonly label: Label
  /** As the honest site pins it. */
  readonly pinned: Peer
  /** Signs with its keys of the use, for whatever purpose. */
  sign(type: SignatureType, payload: string, use?: PublicKey['use']): Promise<Jws>
  /** Signs a message and does not send it. */
  forge(kind: MessageKind, data: unknown, change?: InsiderForgery): Promise<InsiderMessage>
  /** Puts a message where the honest site looks. */
  drop(message: InsiderMessage): void
  /** Signs the next message of its channel; `drop` sends it later, or never. */
  withhold(kind: MessageKind, data: unknown, change?: InsiderForgery): Promise<InsiderMessage>
  /** Signs the next message of its channel, and sends it. */
  send(kind: MessageKind, data: unknown, change?: InsiderForgery): Promise<InsiderMessage>
  /** Uses up numbers that it never sends. */
  skip(count: number): void
}

/** Schemas as the honest site names them. */
const schemas: Partial<Record<MessageKind, string>> = {
  signal: 'signal/1',
  resolution: 'resolution.exchange/1',
  keys: 'platform.keys/1',
  inventory: inventory_schema,
  gap_receipt: 'platform.acknowledgement/1',
}

/** `home`: folder of its keys; `fresh`: the honest site's `in/new` for it, once that is enrolled. */
export async function createInsiderPeer(name: string, home: string, fresh: () => string): Promise<InsiderPeer> {
  fs.mkdirSync(home, { mode: 0o700 })
  for (const use of ['message', 'root'] as const) await generateKey(home, { use, now: noon })
  const stored = readKeyFiles(home)
  const tenant_id = `tenant-${name}`
  const label = {
    ...{ policy: 'SITE', level: 'RESTRICTED', categories: [], originator: tenant_id },
    releasable_to: ['tenant-a', tenant_id],
  }
  const sign: InsiderPeer['sign'] = async (type, payload, use = 'message') =>
    signForAnyPurpose(
      stored.filter(({ public_key }) => public_key.use === use),
      type,
      payload,
    )
  /** The highest number sent, and its digest. */
  let last = { seq: 0, digest: no_predecessor }
  const forge: InsiderPeer['forge'] = async (kind, data, change = {}) => {
    const { seq = last.seq + 1, epoch = 1 } = change
    const content = {
      label: change.label ?? label,
      schema: schemas[kind] ?? `consensus.${kind}/1`,
      data,
      ...change.body,
    }
    const body = (change.rewrite ?? String)(canonicalJson(content))
    const statement = canonicalJson({
      ...{ v: 1, type: 'platform.message', channel: `filedrop/${name}/alpha`, src: name, dst: 'alpha' },
      ...{ sender_tenant_id: tenant_id, receiver_tenant_id: 'tenant-a', epoch, seq },
      prev: seq === last.seq + 1 ? last.digest : no_predecessor,
      ...{ msg_id: `msg_${randomBytes(16).toString('hex')}`, kind },
      created: new Date(noon).toISOString(),
      not_after: new Date(noon + 7 * 86_400_000).toISOString(),
      body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: content.schema },
      ...{ label: content.label, parent_block_ids: [], max_hops: 1 },
      ...change.statement,
    })
    const envelope = await sign('statement', statement)
    const stem = change.stem ?? `${String(epoch).padStart(8, '0')}-${String(seq).padStart(16, '0')}`
    return { stem, envelope, body, digest: sha384(statement) }
  }
  const withhold: InsiderPeer['withhold'] = async (kind, data, change = {}) => {
    const message = await forge(kind, data, change)
    // A number that it made up is not the next honest one.
    if (change.seq === undefined && change.epoch === undefined) last = { seq: last.seq + 1, digest: message.digest }
    return message
  }
  const drop = ({ stem, envelope, body }: InsiderMessage) => {
    place(join(fresh(), `${stem}.body.json`), body)
    place(join(fresh(), `${stem}.env.json`), `${JSON.stringify(envelope)}\n`)
  }
  return {
    name,
    tenant_id,
    keys: listKeys(home),
    label,
    pinned: {
      ...{ name, tenant_id, keys: listKeys(home), threshold: 1, releasable_names: [], max_v: 1 },
      ceiling: { policy: 'SITE', level: 'SECRET', categories: ['NOVA'], originator: 'tenant-a' },
      ...{ not_after_days: 7, keep_days: 30, inventory_interval_s: 86_400, enrolled: new Date(noon).toISOString() },
    },
    sign,
    forge,
    drop,
    withhold,
    async send(kind, data, change) {
      const message = await withhold(kind, data, change)
      drop(message)
      return message
    },
    skip(count) {
      last = { seq: last.seq + count, digest: 'f'.repeat(96) }
    },
  }
}

/** Whole under its name at once, as a good carrier does it: the site watches the folder. */
function place(path: string, text: string): void {
  const part = path.replace(/([^/]+)$/, '.$1')
  fs.writeFileSync(part, text)
  fs.renameSync(part, path)
}

/** No product code: that refuses to sign with a key that is for something else. */
function signForAnyPurpose(keys: readonly StoredKey[], type: SignatureType, text: string): Jws {
  const payload = Buffer.from(text).toString('base64url')
  const signatures = keys.map(({ public_key: { algorithm: alg, kid }, private_jwk = {} }) => {
    const header = Buffer.from(JSON.stringify({ alg, kid, typ: `platform-${type}+jws` })).toString('base64url')
    const key = createPrivateKey({ key: private_jwk, format: 'jwk' })
    const signature = signBytes(null, Buffer.from(`${header}.${payload}`), key)
    return { protected: header, signature: signature.toString('base64url') }
  })
  return { payload, signatures }
}
