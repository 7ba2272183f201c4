// A carrier that changes the bytes of bodies.
import { type CarrierAttack, day_ms, type HostileCarrier } from './hostile-carrier.ts'

/** Delivers message 1 with another body, which stays as long as the signed one where `change` keeps its length. */
function withBody(change: (body: Buffer) => Buffer) {
  return ({ deliver, parcels: [first] }: HostileCarrier) => deliver(first, { body: change(first.body) })
}

export const bodyAttacks: readonly CarrierAttack[] = [
  {
    name: 'swaps the bodies of two messages',
    act: ({ deliver, parcels: [first, second] }) => {
      deliver(first, { body: second.body })
      deliver(second, { body: first.body })
    },
    applied: [],
    quarantined: ['BODY_DIGEST', 'BODY_DIGEST'],
  },
  {
    name: 'changes a digit of the body',
    act: withBody((body) => Buffer.from(body.toString().replace(/"number":\d/, '"number":9'))),
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'flips the last bit of the body',
    act: withBody((body) => Buffer.concat([body.subarray(0, -1), Buffer.from([(body.at(-1) ?? 0) ^ 1])])),
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'appends a line feed to the body',
    act: withBody((body) => Buffer.concat([body, Buffer.from('\n')])),
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'appends a second object to the body',
    act: withBody((body) => Buffer.concat([body, Buffer.from('{}')])),
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'puts a byte order mark before the body',
    act: withBody((body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'writes the same JSON in another order',
    act: withBody((body) =>
      Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body.toString())).reverse()))),
    ),
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'removes the label from the body',
    act: withBody((body) =>
      Buffer.from(body.toString().replace(/"label":\{[^}]*\}/, (text) => ' '.repeat(text.length))),
    ),
    applied: [],
    quarantined: ['BODY_DIGEST'],
  },
  {
    name: 'empties the body',
    act: async (carrier) => {
      withBody(() => Buffer.alloc(0))(carrier)
      await carrier.wait(day_ms)
    },
    applied: [],
    quarantined: ['TRUNCATED'],
  },
  {
    name: 'cuts the body in half',
    act: async (carrier) => {
      withBody((body) => body.subarray(0, body.length / 2))(carrier)
      await carrier.wait(day_ms)
    },
    applied: [],
    quarantined: ['TRUNCATED'],
  },
  {
    name: 'blows the body up beyond 4 MiB',
    act: withBody((body) => Buffer.concat([body, Buffer.alloc(4_194_304, ' ')])),
    applied: [],
    quarantined: ['TOO_LARGE'],
  },
]
