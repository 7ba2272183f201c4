// Everything that a carrier between sites must keep, as data: each adapter is run against all of it.

import { expect } from 'vitest'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type {
  DeliveryVerdict,
  InboundMessage,
  OutboundMessage,
  Transport,
} from '../../daemon/kernel/messaging/transport.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'

/** Two enrolled sites; `sender` sends to the peer that `outgoing` names, and `receiver` has been started. */
export type TransportFixture = {
  readonly sender: Transport
  /** Another one over the same durable state, after `stop`. */
  restartSender(): Promise<void>
  restartReceiver(): Promise<void>
  /** Moves everything on its way, as often as it takes. */
  deliverAll(): Promise<void>
  /** Messages passed to the receiver's handler, in order, repeats included. */
  readonly delivered: InboundMessage[]
  /** The handler's answer from now on. */
  answer(verdict: (message: InboundMessage) => DeliveryVerdict | Promise<DeliveryVerdict>): void
  receiverStatus(): ReturnType<Transport['status']>
  outgoing(more?: Partial<OutboundMessage>): OutboundMessage
  /** One that the peer's ceiling forbids. */
  forbidden(): OutboundMessage
}

export type TransportRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: TransportFixture) => Promise<void>
}

const requirement = (
  id: string,
  says: string,
  holds: (world: TransportFixture) => Promise<void>,
): TransportRequirement => ({ id, description: says, verify: holds })

export const transportRequirements: readonly TransportRequirement[] = [
  requirement('transport/whole', 'body, kind, label, schema and parents arrive as they were sent', async (world) => {
    const parent_block_ids = ['a'.repeat(64)]
    const sent = world.outgoing({ body: { text: 'naïve 😀', list: [1, null, { deep: true }] }, parent_block_ids })
    const { msg_id, epoch, seq } = await world.sender.send(sent, sampleTrace)
    await world.deliverAll()
    expect(world.delivered).toHaveLength(1)
    const [{ statement, body, envelope, body_text, signer_key_id } = {} as InboundMessage] = world.delivered
    expect(body).toEqual(sent.body)
    expect(statement).toMatchObject({ msg_id, epoch, seq, kind: sent.kind, label: sent.label, parent_block_ids })
    expect(statement.body.schema).toBe(sent.schema)
    expect(JSON.parse(body_text)).toEqual({ label: sent.label, schema: sent.schema, data: sent.body })
    expect(Buffer.from(JSON.parse(envelope).payload, 'base64url').toString()).toContain(msg_id)
    expect(signer_key_id).not.toBe('')
  }),

  requirement('transport/same-event', 'a repeated event id has the same answer, and arrives once', async (world) => {
    const message = world.outgoing()
    const first = await world.sender.send(message, sampleTrace)
    expect(
      await Promise.all([world.sender.send(message, sampleTrace), world.sender.send(message, sampleTrace)]),
    ).toEqual([first, first])
    await world.deliverAll()
    await world.restartSender()
    expect(await world.sender.send(message, sampleTrace)).toEqual(first)
    await world.deliverAll()
    expect(world.delivered).toHaveLength(1)
  }),

  requirement(
    'transport/gapless',
    'concurrent messages get the numbers 1 to n, and each arrives once',
    async (world) => {
      const sent = await Promise.all(Array.from({ length: 25 }, () => world.sender.send(world.outgoing(), sampleTrace)))
      const numbers = Array.from({ length: 25 }, (_, index) => index + 1)
      expect(sent.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(numbers)
      await world.deliverAll()
      // In whichever order: contributions commute.
      expect(world.delivered.map(({ statement }) => statement.seq).sort((a, b) => a - b)).toEqual(numbers)
    },
  ),

  requirement('transport/one-at-a-time', 'takes an ordered message when the earlier one is done', async (world) => {
    let working = 0
    let most = 0
    world.answer(async () => {
      most = Math.max(most, ++working)
      await new Promise((resolve) => setImmediate(resolve))
      working -= 1
      return { verdict: 'applied' }
    })
    for (let i = 0; i < 5; i++) await world.sender.send(world.outgoing({ kind: 'result' }), sampleTrace)
    await world.deliverAll()
    expect([most, world.delivered.length]).toEqual([1, 5])
  }),

  requirement('transport/durable', 'a message accepted before a restart goes out after it', async (world) => {
    await world.sender.send(world.outgoing(), sampleTrace)
    await world.restartSender()
    await world.deliverAll()
    expect(world.delivered).toHaveLength(1)
  }),

  requirement(
    'transport/later',
    'a message that was put off comes again, and only until it is applied',
    async (world) => {
      world.answer(() => ({ verdict: 'later', detail: 'the store is down' }))
      await world.sender.send(world.outgoing(), sampleTrace)
      await world.deliverAll()
      await world.restartReceiver()
      await world.deliverAll()
      expect(world.delivered.length).toBeGreaterThan(1)
      world.answer(() => ({ verdict: 'applied' }))
      await world.deliverAll()
      const count = world.delivered.length
      await world.restartReceiver()
      await world.deliverAll()
      expect(world.delivered).toHaveLength(count)
      expect(new Set(world.delivered.map(({ statement }) => statement.msg_id)).size).toBe(1)
    },
  ),

  requirement('transport/refused', 'a refused message comes once, and what follows still arrives', async (world) => {
    world.answer(({ statement }) =>
      statement.seq === 1 ? { verdict: 'refused', code: 'session_closed', detail: 'closed' } : { verdict: 'applied' },
    )
    await world.sender.send(world.outgoing(), sampleTrace)
    await world.sender.send(world.outgoing(), sampleTrace)
    await world.deliverAll()
    await world.restartReceiver()
    await world.deliverAll()
    expect(world.delivered.map(({ statement }) => statement.seq)).toEqual([1, 2])
    const status = (await world.receiverStatus()).find(({ direction }) => direction === 'in')
    expect(status).toMatchObject({ received: 1, quarantined: 1, gaps: 0, next_seq: 3 })
  }),

  requirement('transport/label', 'refuses a message that may not cross, and uses no number', async (world) => {
    const refusal = await world.sender.send(world.forbidden(), sampleTrace).catch((error: unknown) => error)
    expect(isRefusal(refusal) && refusal.code).toBe('label_denied')
    expect(await world.sender.send(world.outgoing(), sampleTrace)).toMatchObject({ seq: 1 })
    await world.deliverAll()
    expect(world.delivered).toHaveLength(1)
  }),

  requirement('transport/nobody', 'a message to an unknown peer is refused', async (world) => {
    const refusal = await world.sender
      .send(world.outgoing({ peer: 'nobody' }), sampleTrace)
      .catch((error: unknown) => error)
    expect(isRefusal(refusal) && refusal.code).toBe('not_found')
  }),

  requirement('transport/health', 'healthy while it works, and both directions have a status', async (world) => {
    await world.sender.send(world.outgoing(), sampleTrace)
    await world.deliverAll()
    expect((await world.sender.health()).ok).toBe(true)
    const statuses = await world.sender.status()
    expect(statuses.map(({ direction, state }) => [direction, state])).toEqual([
      ['out', 'open'],
      ['in', 'open'],
    ])
    expect(statuses[0]).toMatchObject({ sent: 1, next_seq: 2, highest_seq: 1 })
  }),
]
