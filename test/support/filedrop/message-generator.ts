// Makes signed messages as a sending site does, many and fast: in files, in the order of their numbers, without its journal.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { no_predecessor } from '../../../adapters/transport/filedrop/checks/sequence-check.ts'
import type { KeyAlgorithm, PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'

export const sender = { name: 'alpha', tenant_id: 'tenant-alpha' } as const
export const receiver = { name: 'bravo', tenant_id: 'tenant-bravo' } as const
export const label_policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }

const day_ms = 86_400_000

export type MessageGenerator = {
  readonly key: PublicKey
  /** The next `count` messages as files in this folder; their stems. */
  generate(folder: string, count: number): Promise<string[]>
  /** Where its numbers stand. */
  skipTo(seq: number, digest: string): void
}

/** `home`: the folder of its key. */
export async function createMessageGenerator(home: string, algorithm: KeyAlgorithm): Promise<MessageGenerator> {
  await generateKey(home, { use: 'message', algorithm, now: Date.now() })
  const keys = readKeyFiles(home)
  const [first] = keys
  if (!first) throw new Error('no key was made')
  let seq = 0
  let prev = no_predecessor
  return {
    key: first.public_key,
    skipTo(last, digest) {
      seq = last
      prev = digest
    },
    async generate(folder, count) {
      const stems: string[] = []
      for (let made = 0; made < count; made++) {
        seq += 1
        const body = canonicalJson(buildBody(seq))
        const statement = Buffer.from(canonicalJson(buildStatement(seq, prev, body)))
        prev = sha384(statement)
        const stem = `00000001-${String(seq).padStart(16, '0')}`
        fs.writeFileSync(join(folder, `${stem}.body.json`), body)
        fs.writeFileSync(
          join(folder, `${stem}.env.json`),
          `${JSON.stringify(await signWithKeys(keys, 'statement', statement))}\n`,
        )
        stems.push(stem)
      }
      return stems
    },
  }
}

export function buildSenderPeer(key: PublicKey): Peer {
  return {
    ...sender,
    keys: [key],
    threshold: 1,
    ceiling: { policy: 'SITE', level: 'SECRET', categories: [], originator: sender.tenant_id },
    releasable_names: [],
    max_v: 1,
    not_after_days: 7,
    keep_days: 30,
    inventory_interval_s: 300,
    enrolled: new Date().toISOString(),
  }
}

function buildLabel(): Label {
  return {
    ...{ policy: 'SITE', level: 'RESTRICTED', categories: [], releasable_to: [receiver.tenant_id] },
    originator: sender.tenant_id,
  }
}

/** Of the size and shape of a contribution to a session. */
function buildBody(seq: number) {
  const contribution = {
    contribution_id: `ctr_${seq}`,
    contributor_id: 'analyst-7',
    pair_score: (seq % 97) / 97,
    accuracy: 0.9,
    credibility: 0.8,
    signer_key_id: 'alpha-message-1',
    at: new Date().toISOString(),
  }
  const data = { session_id: `ses_${seq % 1_000}`, contribution }
  return { label: buildLabel(), schema: 'consensus.contribution.v1', data }
}

function buildStatement(seq: number, prev: string, body: string) {
  const now = Date.now()
  return {
    v: 1,
    type: 'platform.message',
    channel: `filedrop/${sender.name}/${receiver.name}`,
    ...{ src: sender.name, dst: receiver.name },
    ...{ sender_tenant_id: sender.tenant_id, receiver_tenant_id: receiver.tenant_id },
    ...{ epoch: 1, seq, prev, msg_id: `msg_${String(seq).padStart(32, '0')}`, kind: 'contribution' },
    created: new Date(now).toISOString(),
    not_after: new Date(now + 7 * day_ms).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: 'consensus.contribution.v1' },
    label: buildLabel(),
    parent_block_ids: [],
    max_hops: 1,
  }
}
