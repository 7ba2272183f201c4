// A carrier that changes the bytes of envelopes.
import { gzipSync } from 'node:zlib'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { start_ms } from '../../support/filedrop/filedrop-sites.ts'
import {
  alterEnvelope,
  type CarrierAttack,
  type CarrierParcel,
  day_ms,
  type HostileCarrier,
} from './hostile-carrier.ts'

const encodeText = (text: string) => Buffer.from(text).toString('base64url')
const decodeText = (text: string) => Buffer.from(text, 'base64url').toString('utf8')

/** Delivers message 1 with another envelope. */
function withEnvelope(change: (parcel: CarrierParcel, carrier: HostileCarrier) => Buffer | Promise<Buffer>) {
  return async (carrier: HostileCarrier) => {
    const [first] = carrier.parcels
    carrier.deliver(first, { env: await change(first, carrier) })
  }
}

const alterPayload = (change: (text: string) => string) =>
  withEnvelope((parcel) =>
    alterEnvelope(parcel, (envelope) => ({ ...envelope, payload: encodeText(change(decodeText(envelope.payload))) })),
  )

const alterHeader = (change: (header: Record<string, unknown>) => unknown) =>
  withEnvelope((parcel) =>
    alterEnvelope(parcel, ({ payload, signatures }) => ({
      payload,
      signatures: signatures.map((each) => ({
        ...each,
        protected: encodeText(JSON.stringify(change(JSON.parse(decodeText(each.protected))))),
      })),
    })),
  )

async function signByCarrier({ env }: CarrierParcel, { elsewhere }: HostileCarrier) {
  await generateKey(elsewhere, { use: 'message', now: start_ms })
  const { payload } = JSON.parse(env.toString('utf8'))
  return await joseSignatures({ dir: elsewhere }).sign('statement', Buffer.from(payload, 'base64url'))
}

export const envelopeAttacks: readonly CarrierAttack[] = [
  {
    name: 'lowers the label in the signed statement',
    act: alterPayload((text) => text.replace('RESTRICTED', 'UNCLASSIFIED')),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'extends the life of the message',
    act: alterPayload((text) => text.replace('"not_after":"2026', '"not_after":"2036')),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'takes the statement of one message and the signature of another',
    act: withEnvelope((first, { parcels: [, second] }) =>
      alterEnvelope(first, ({ payload }) => ({ payload, signatures: JSON.parse(second.env.toString()).signatures })),
    ),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'changes the signature',
    act: withEnvelope((first) =>
      alterEnvelope(first, ({ payload, signatures }) => ({
        payload,
        signatures: signatures.map((each) => ({ ...each, signature: each.signature.replace(/^.{8}/, 'AAAAAAAA') })),
      })),
    ),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'removes all signatures',
    act: withEnvelope((first) => alterEnvelope(first, ({ payload }) => ({ payload, signatures: [] }))),
    applied: [],
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'signs the message with its own key',
    act: withEnvelope(async (first, carrier) => Buffer.from(JSON.stringify(await signByCarrier(first, carrier)))),
    applied: [],
    quarantined: ['UNKNOWN_KEY'],
  },
  {
    name: 'signs with its own key under the key id of the sender',
    act: withEnvelope(async (first, carrier) => {
      const forged = await signByCarrier(first, carrier)
      return alterEnvelope(first, ({ payload, signatures }) => ({
        payload,
        signatures: signatures.map((each, index) => ({ ...each, signature: forged.signatures[index]?.signature })),
      }))
    }),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'says that the message needs no signature',
    act: alterHeader((header) => ({ ...header, alg: 'none' })),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'claims a symmetric signature under the public key',
    act: alterHeader((header) => ({ ...header, alg: 'HS256' })),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'names another purpose of the signature',
    act: alterHeader((header) => ({ ...header, typ: 'platform-evidence+jws' })),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'brings a key of its own in the header',
    act: alterHeader((header) => ({ ...header, jwk: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } })),
    applied: [],
    quarantined: ['BAD_SIG'],
  },
  {
    name: 'adds an unprotected header',
    act: withEnvelope((first) =>
      alterEnvelope(first, ({ payload, signatures }) => ({
        payload,
        signatures: signatures.map((each) => ({ ...each, header: { kid: 'other' } })),
      })),
    ),
    applied: [],
    quarantined: ['UNKNOWN_FIELD'],
  },
  {
    name: 'repeats the payload under a second key of the same name',
    act: withEnvelope(({ env }) => Buffer.from(env.toString().replace('{', '{"payload":"e30",'))),
    applied: [],
    quarantined: ['DUP_KEY'],
  },
  {
    name: 'adds a member named __proto__',
    act: withEnvelope(({ env }) => Buffer.from(env.toString().replace('{', '{"__proto__":{"x":1},'))),
    applied: [],
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'writes the envelope in UTF-16',
    act: withEnvelope(({ env }) => Buffer.from(env.toString(), 'utf16le')),
    applied: [],
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'compresses the envelope',
    act: withEnvelope(({ env }) => gzipSync(env)),
    applied: [],
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'nests the envelope thirty thousand levels deep',
    act: withEnvelope(() => Buffer.from('['.repeat(30_000) + ']'.repeat(30_000))),
    applied: [],
    quarantined: ['BAD_JSON'],
  },
  {
    name: 'cuts the envelope short',
    act: async (carrier) => {
      await withEnvelope(({ env }) => env.subarray(0, 100))(carrier)
      await carrier.wait(day_ms)
    },
    applied: [],
    quarantined: ['TRUNCATED'],
  },
]
