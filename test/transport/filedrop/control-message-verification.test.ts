// Messages that sites themselves send are verified offline by the rules of live intake: what it refuses does not hold.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys, verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import {
  type FileVerificationOptions,
  verifyFile,
} from '../../../adapters/transport/filedrop/inspection/verify-file.ts'
import {
  acknowledgement_bytes,
  acknowledgement_schema,
} from '../../../adapters/transport/filedrop/sending/reports/compose-acknowledgement.ts'
import type { Jws, PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { inventory_schema } from '../../../daemon/kernel/messaging/inventory.ts'
import type { MessageKind } from '../../../daemon/kernel/messaging/message-kind.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import { buildNextKeySet, createUnstoredKey, pinByHand, signKeySet } from '../../keys/key-set-fixture.ts'
import { buildLabel, type FiledropSites, start_ms } from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest as test } from '../../support/filedrop/filedrop-test.ts'
import { forgeMessage } from '../../support/filedrop/forge-message.ts'

const at = new Date(start_ms).toISOString()
const prev = 'a'.repeat(96)
const hash = 'b'.repeat(64)
const folder = (sites: FiledropSites) => join(sites.dir, 'alpha', 'keys')

type ControlMessage = {
  readonly kind: MessageKind
  readonly schema: string
  readonly data: object
  readonly seq?: number
}

/** A message of alpha with this content, signed by its real message key; the first check that fails, and its reason. */
async function verifyControl(
  sites: FiledropSites,
  { kind, schema, data, seq = 3 }: ControlMessage,
  more: Partial<FileVerificationOptions> = {},
) {
  const body = canonicalJson({ label: buildLabel(sites.bravo.tenant_id), schema, data })
  const content = { sha384: sha384(body), length: Buffer.byteLength(body), schema }
  const epoch = seq === 1 ? 2 : 1
  const statement = { kind, body: content, ...(seq === 1 ? {} : { prev }) }
  const made = await forgeMessage(sites, { seq, epoch, body, statement })
  const path = join(sites.dir, `${made.stem}.env.json`)
  writeFileSync(path, made.envelope)
  writeFileSync(join(sites.dir, `${made.stem}.body.json`), made.body)
  const keys = sites.alpha.signatures.publicKeys()
  const { ok, checks } = await verifyFile(path, {
    kinds: messageKinds,
    signatures: { verify: verifyJws },
    keys,
    ...more,
  })
  const failed = checks.find(({ outcome }) => outcome === 'failed')
  expect(ok).toBe(failed === undefined)
  return failed ? [failed.check, failed.reason, ...(failed.code ? [failed.code] : [])] : 'holds'
}

describe('an inventory', () => {
  const inventory = (change: object = {}): ControlMessage => {
    const data = { epoch: 1, highest: 2, rolling: prev, digests: [hash.repeat(2).slice(0, 96), prev], checkpoints: [] }
    return { kind: 'inventory', schema: inventory_schema, data: { ...data, ...change } }
  }
  const head = { writer: 'hub@alpha', seq: 7, hash, at }
  const signHead = async (sites: FiledropSites, signed: object = head) => ({
    ...head,
    signature: await sites.alpha.signatures.sign('checkpoint', Buffer.from(canonicalJson(signed))),
  })

  test('holds when it lists the messages before it', async ({ sites }) => {
    expect(await verifyControl(sites, inventory())).toBe('holds')
    expect(await verifyControl(sites, inventory({ checkpoints: [await signHead(sites)] }))).toBe('holds')
  })

  test.for([
    ['another epoch', { epoch: 2 }],
    ['a higher number', { highest: 5 }],
    ['a lower number', { highest: 1, digests: [prev] }],
    ['another last statement', { rolling: 'c'.repeat(96) }],
    ['other digests', { digests: [prev, 'c'.repeat(96)] }],
    ['more digests than messages', { digests: [prev, prev, prev] }],
  ] as const)('that states %s is a SCHEMA fault', async ([, change], { sites }) => {
    expect(await verifyControl(sites, inventory(change))).toEqual(['inventory', 'SCHEMA'])
  })

  test('of another schema or with an unknown member has the class of that', async ({ sites }) => {
    expect(await verifyControl(sites, { ...inventory(), schema: 'platform.inventory/9' })).toEqual([
      ...['inventory', 'SCHEMA'],
    ])
    expect(await verifyControl(sites, inventory({ more: 1 }))).toEqual(['inventory', 'UNKNOWN_FIELD'])
  })

  test('with a forged checkpoint does not hold', async ({ sites }) => {
    const verify = async (checkpoint: object) => await verifyControl(sites, inventory({ checkpoints: [checkpoint] }))
    const signed = await signHead(sites)
    expect(await verify({ ...signed, seq: 8 })).toEqual(['checkpoints', 'BAD_SIG'])
    expect(await verify(await signHead(sites, { ...head, hash: 'c'.repeat(64) }))).toEqual(['checkpoints', 'BAD_SIG'])
    expect(await verify({ ...signed, writer: 'hub@bravo' })).toEqual(['checkpoints', 'SCHEMA'])
    const foreign = await sites.bravo.signatures.sign('checkpoint', Buffer.from(canonicalJson(head)))
    expect(await verify({ ...head, signature: foreign })).toEqual(['checkpoints', 'UNKNOWN_KEY'])
  })
})

describe('an epoch announcement', () => {
  const announce = async (sites: FiledropSites, use: PublicKey['use'], change: object = {}) => {
    const keys = readKeyFiles(folder(sites)).filter(({ public_key }) => public_key.use === use)
    const announcement = {
      ...{ v: 1, type: 'platform.epoch', channel: 'filedrop/alpha/bravo', src: 'alpha', dst: 'bravo', epoch: 2 },
      ...{ reason: 'restored', created: at, ...change },
    }
    // The signing side refuses a key of another use; a holder of the key need not.
    const disguised = keys.map((key) => ({ ...key, public_key: { ...key.public_key, use: 'root' as const } }))
    const note = await signWithKeys(disguised, 'epoch', Buffer.from(canonicalJson(announcement)))
    return { kind: 'keys', schema: 'platform.keys/1', data: { epoch: note }, seq: 1 } as const
  }
  test.beforeEach(async ({ sites }) => {
    await generateKey(folder(sites), { use: 'root', now: start_ms })
  })

  test('holds when enough root keys signed it', async ({ sites }) => {
    const message = await announce(sites, 'root')
    expect(await verifyControl(sites, message)).toBe('holds')
    expect(await verifyControl(sites, message, { root_threshold: 2 })).toEqual(['keys', 'THRESHOLD'])
  })

  test('signed by a message key, or about something else, does not', async ({ sites }) => {
    expect(await verifyControl(sites, await announce(sites, 'message'))).toEqual(['keys', 'UNKNOWN_KEY'])
    const verify = async (change: object) => await verifyControl(sites, await announce(sites, 'root', change))
    expect(await verify({ epoch: 3 })).toEqual(['keys', 'SCHEMA'])
    expect(await verify({ dst: 'charlie' })).toEqual(['keys', 'WRONG_DST'])
    expect(await verify({ channel: 'filedrop/alpha/charlie' })).toEqual(['keys', 'WRONG_CHANNEL'])
    const late = { ...(await announce(sites, 'root')), seq: 3 }
    expect(await verifyControl(sites, late)).toEqual(['schema', 'SCHEMA'])
  })
})

describe('key sets', () => {
  const message = (...sets: Jws[]): ControlMessage => {
    const data = { keyset: sets.at(-1), ...(sets.length > 1 ? { before: sets.slice(0, -1) } : {}) }
    return { kind: 'keys', schema: 'platform.keys/1', data }
  }
  const owner = { site: 'alpha', tenant_id: 'tenant-a' }

  test('hold when they follow from the pinned root keys, and not otherwise', async ({ sites }) => {
    const [root, next, stranger, key] = await Promise.all([
      createUnstoredKey('root'),
      createUnstoredKey('root'),
      createUnstoredKey('root'),
      createUnstoredKey(),
    ])
    const { tenant_id } = sites.alpha
    const of = { ...owner, tenant_id }
    const first = await signKeySet(buildNextKeySet(undefined, [root, key], of), [root])
    const second = await signKeySet(buildNextKeySet(first, [next, key], of), [root, next])
    const keys = [...sites.alpha.signatures.publicKeys(), root.public_key]
    const verify = async (...sets: Jws[]) => await verifyControl(sites, message(...sets), { keys })
    expect(await verify(first)).toBe('holds')
    expect(await verify(first, second)).toBe('holds')
    expect(await verify(second)).toBe('holds')
    const forged = await signKeySet(buildNextKeySet(first, [stranger, key], of), [stranger])
    expect(await verify(first, forged)).toEqual(['keys', 'REFUSED', 'signature_invalid'])
    const apart = await signKeySet(buildNextKeySet(undefined, [stranger, key], of), [stranger])
    expect(await verify(apart, second)).toEqual(['keys', 'REFUSED', 'invalid'])
    const pinned = { ...pinByHand([root], 1), ...of }
    const byPin = async (...sets: Jws[]) => await verifyControl(sites, message(...sets), { keys, key_set: pinned })
    expect(await byPin(first, second)).toBe('holds')
    expect(await byPin(second)).toEqual(['keys', 'REFUSED', 'invalid'])
  })
})

describe('an acknowledgement', () => {
  const acknowledge = async (sites: FiledropSites, change: object = {}, padding = ' ', signer = sites.alpha) => {
    const receipt = {
      ...{ v: 1, type: 'platform.gap_receipt', channel: 'filedrop/bravo/alpha', src: 'alpha', dst: 'bravo', epoch: 1 },
      ...{ highest: 9, floor: 3, missing: [{ first: 4, last: 5 }], created: at, not_after: at, ...change },
    }
    const note = await signer.signatures.sign('gap-receipt', Buffer.from(canonicalJson(receipt)))
    const size = (text: string) =>
      Buffer.byteLength(
        canonicalJson({
          label: buildLabel(sites.bravo.tenant_id),
          schema: acknowledgement_schema,
          data: { receipt: note, padding: text },
        }),
      )
    const room = acknowledgement_bytes - size('')
    return {
      kind: 'gap_receipt',
      schema: acknowledgement_schema,
      data: { receipt: note, padding: padding.repeat(room) },
    } as const
  }

  test('holds when its receipt is of the sender about the way to it', async ({ sites }) => {
    expect(await verifyControl(sites, await acknowledge(sites))).toBe('holds')
  })

  test('of another size, with content in its padding, or with another receipt does not', async ({ sites }) => {
    const good = await acknowledge(sites)
    const longer = { ...good, data: { ...good.data, padding: `${good.data.padding} ` } }
    const refused = (code: string) => ['acknowledgement', 'REFUSED', code]
    expect(await verifyControl(sites, longer)).toEqual(refused('invalid'))
    expect(await verifyControl(sites, await acknowledge(sites, {}, 'x'))).toEqual(refused('invalid'))
    const verify = async (change: object) => await verifyControl(sites, await acknowledge(sites, change))
    expect(await verify({ channel: 'filedrop/bravo/charlie' })).toEqual(refused('invalid'))
    expect(await verify({ dst: 'charlie' })).toEqual(refused('invalid'))
    expect(await verify({ floor: 10 })).toEqual(refused('invalid'))
    expect(await verifyControl(sites, await acknowledge(sites, {}, ' ', sites.bravo))).toEqual(
      refused('signature_invalid'),
    )
  })
})
