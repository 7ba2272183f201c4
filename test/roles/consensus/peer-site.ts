// A peer with real keys, whose signed messages a test delivers directly.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { generateKey, listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import type { Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { MessageKind } from '../../../daemon/kernel/messaging/message-kind.ts'
import type { MessageBody, Statement } from '../../../daemon/kernel/messaging/statement.ts'
import type { FederationMessage } from '../../../daemon/shared/federation-message/federation-message.ts'
import { noon } from '../../support/clock/simulated-clock.ts'

const at = new Date(noon).toISOString()

/** May go to both peers that the tests have. */
export const sharedClassification = { level: 'UNCLASSIFIED', releasable_to: ['tenant-a', 'tenant-b', 'tenant-c'] }
export const sharedLabel: Label = { policy: 'SITE', categories: [], originator: 'tenant-a', ...sharedClassification }

export type PeerSite = {
  readonly name: string
  readonly tenant_id: string
  /** As alpha pins it. */
  readonly pinned: Peer
  /** Signed by the peer's message key. `changes` alters the statement, `written` its body. */
  message(
    kind: MessageKind,
    data: Readonly<Record<string, unknown>>,
    changes?: Partial<Statement>,
    written?: Partial<MessageBody>,
  ): Promise<FederationMessage>
  sign: Signatures['sign']
  remove(): void
}

export async function createPeerSite(name: string, tenant_id: string): Promise<PeerSite> {
  const dir = fs.mkdtempSync(path.join(tmpdir(), `peer-${name}-`))
  await generateKey(dir, { use: 'message', now: noon })
  const signatures = joseSignatures({ dir, now: () => noon })
  let seq = 0
  return {
    name,
    tenant_id,
    pinned: {
      name,
      tenant_id,
      keys: listKeys(dir),
      threshold: 1,
      ceiling: { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-a' },
      releasable_names: [],
      max_v: 1,
      not_after_days: 7,
      keep_days: 30,
      inventory_interval_s: 300,
      enrolled: at,
    },
    async message(kind, data, changes = {}, written = {}) {
      const schema = kind === 'signal' ? 'signal/1' : `consensus.${kind}/1`
      const body = canonicalJson({ label: changes.label ?? sharedLabel, schema, data, ...written })
      seq = Math.max(seq + 1, changes.seq ?? 0)
      const statement: Statement = {
        v: 1,
        type: 'platform.message',
        channel: `filedrop/${name}/alpha`,
        src: name,
        dst: 'alpha',
        sender_tenant_id: tenant_id,
        receiver_tenant_id: 'tenant-a',
        epoch: 1,
        seq,
        prev: '0'.repeat(96),
        msg_id: `msg_${randomBytes(16).toString('hex')}`,
        kind,
        created: at,
        not_after: new Date(noon + 7 * 86_400_000).toISOString(),
        body: { sha384: sha384(body), length: Buffer.byteLength(body), schema },
        label: sharedLabel,
        parent_block_ids: [],
        max_hops: 1,
        ...changes,
      }
      const envelope = await signatures.sign('statement', Buffer.from(canonicalJson(statement)))
      return { envelope, body: Buffer.from(body).toString('base64url') }
    },
    sign: signatures.sign,
    remove: () => fs.rmSync(dir, { recursive: true, force: true }),
  }
}
