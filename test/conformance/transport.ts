// Everything that a carrier between sites must keep, as data: each adapter is run against all of it.

import { expect } from 'vitest'
import { isRefused } from '../../daemon/kernel/errors.ts'
import type { Incoming, Outgoing, Transport, Verdict } from '../../daemon/kernel/transport.ts'
import { aTrace } from '../support/a-trace.ts'

/** Two enrolled sites; `sender` sends to the peer that `outgoing` names, and `receiver` has been started. */
export type TransportWorld = {
  readonly sender: Transport
  /** Another one over the same durable state, after `stop`. */
  restartSender(): Promise<void>
  restartReceiver(): Promise<void>
  /** Moves everything on its way, as often as it takes. */
  settle(): Promise<void>
  /** What the receiver's handler was given, in order, repeats included. */
  readonly delivered: Incoming[]
  /** What the handler answers from now on. */
  answer(verdict: (message: Incoming) => Verdict | Promise<Verdict>): void
  receiverStatus(): ReturnType<Transport['status']>
  outgoing(more?: Partial<Outgoing>): Outgoing
  /** One that the peer's ceiling forbids. */
  forbidden(): Outgoing
}

export type TransportRequirement = {
  readonly id: string
  readonly says: string
  readonly holds: (world: TransportWorld) => Promise<void>
}

const requirement = (
  id: string,
  says: string,
  holds: (world: TransportWorld) => Promise<void>,
): TransportRequirement => ({ id, says, holds })

export const transportRequirements: readonly TransportRequirement[] = [
  requirement('transport/whole', 'body, kind, label, schema and parents arrive as they were sent', async (world) => {
    const parent_block_ids = ['a'.repeat(64)]
    const sent = world.outgoing({ body: { text: 'naïve 😀', list: [1, null, { deep: true }] }, parent_block_ids })
    const { msg_id, epoch, seq } = await world.sender.send(sent, aTrace)
    await world.settle()
    expect(world.delivered).toHaveLength(1)
    const [{ statement, body, envelope, body_text, signer_key_id } = {} as Incoming] = world.delivered
    expect(body).toEqual(sent.body)
    expect(statement).toMatchObject({ msg_id, epoch, seq, kind: sent.kind, label: sent.label, parent_block_ids })
    expect(statement.body.schema).toBe(sent.schema)
    expect(JSON.parse(body_text)).toEqual({ label: sent.label, schema: sent.schema, data: sent.body })
    expect(Buffer.from(JSON.parse(envelope).payload, 'base64url').toString()).toContain(msg_id)
    expect(signer_key_id).not.toBe('')
  }),

  requirement('transport/same-event', 'a repeated event id has the same answer, and arrives once', async (world) => {
    const message = world.outgoing()
    const first = await world.sender.send(message, aTrace)
    expect(await Promise.all([world.sender.send(message, aTrace), world.sender.send(message, aTrace)])).toEqual([
      first,
      first,
    ])
    await world.settle()
    await world.restartSender()
    expect(await world.sender.send(message, aTrace)).toEqual(first)
    await world.settle()
    expect(world.delivered).toHaveLength(1)
  }),

  requirement(
    'transport/gapless',
    'concurrent messages get the numbers 1 to n, and each arrives once',
    async (world) => {
      const sent = await Promise.all(Array.from({ length: 25 }, () => world.sender.send(world.outgoing(), aTrace)))
      const numbers = Array.from({ length: 25 }, (_, index) => index + 1)
      expect(sent.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(numbers)
      await world.settle()
      // In whichever order: contributions commute.
      expect(world.delivered.map(({ statement }) => statement.seq).sort((a, b) => a - b)).toEqual(numbers)
    },
  ),

  requirement(
    'transport/one-at-a-time',
    'of what is ordered, one is taken when the one before is done',
    async (world) => {
      let working = 0
      let most = 0
      world.answer(async () => {
        most = Math.max(most, ++working)
        await new Promise((resolve) => setImmediate(resolve))
        working -= 1
        return { verdict: 'applied' }
      })
      for (let i = 0; i < 5; i++) await world.sender.send(world.outgoing({ kind: 'result' }), aTrace)
      await world.settle()
      expect([most, world.delivered.length]).toEqual([1, 5])
    },
  ),

  requirement('transport/durable', 'what was accepted before a restart goes out after it', async (world) => {
    await world.sender.send(world.outgoing(), aTrace)
    await world.restartSender()
    await world.settle()
    expect(world.delivered).toHaveLength(1)
  }),

  requirement(
    'transport/later',
    'a message that was put off comes again, and only until it is applied',
    async (world) => {
      world.answer(() => ({ verdict: 'later', detail: 'the store is down' }))
      await world.sender.send(world.outgoing(), aTrace)
      await world.settle()
      await world.restartReceiver()
      await world.settle()
      expect(world.delivered.length).toBeGreaterThan(1)
      world.answer(() => ({ verdict: 'applied' }))
      await world.settle()
      const count = world.delivered.length
      await world.restartReceiver()
      await world.settle()
      expect(world.delivered).toHaveLength(count)
      expect(new Set(world.delivered.map(({ statement }) => statement.msg_id)).size).toBe(1)
    },
  ),

  requirement('transport/refused', 'a refused message comes once, and what follows still arrives', async (world) => {
    world.answer(({ statement }) =>
      statement.seq === 1 ? { verdict: 'refused', code: 'session_closed', detail: 'closed' } : { verdict: 'applied' },
    )
    await world.sender.send(world.outgoing(), aTrace)
    await world.sender.send(world.outgoing(), aTrace)
    await world.settle()
    await world.restartReceiver()
    await world.settle()
    expect(world.delivered.map(({ statement }) => statement.seq)).toEqual([1, 2])
    const status = (await world.receiverStatus()).find(({ direction }) => direction === 'in')
    expect(status).toMatchObject({ received: 1, quarantined: 1, gaps: 0, next_seq: 3 })
  }),

  requirement('transport/label', 'what may not cross is refused, and uses no number', async (world) => {
    const refusal = await world.sender.send(world.forbidden(), aTrace).catch((error: unknown) => error)
    expect(isRefused(refusal) && refusal.code).toBe('label_denied')
    expect(await world.sender.send(world.outgoing(), aTrace)).toMatchObject({ seq: 1 })
    await world.settle()
    expect(world.delivered).toHaveLength(1)
  }),

  requirement('transport/nobody', 'a message to an unknown peer is refused', async (world) => {
    const refusal = await world.sender.send(world.outgoing({ peer: 'nobody' }), aTrace).catch((error: unknown) => error)
    expect(isRefused(refusal) && refusal.code).toBe('not_found')
  }),

  requirement('transport/health', 'healthy while it works, and both directions have a status', async (world) => {
    await world.sender.send(world.outgoing(), aTrace)
    await world.settle()
    expect((await world.sender.health()).ok).toBe(true)
    const statuses = await world.sender.status()
    expect(statuses.map(({ direction, state }) => [direction, state])).toEqual([
      ['out', 'open'],
      ['in', 'open'],
    ])
    expect(statuses[0]).toMatchObject({ sent: 1, next_seq: 2, highest_seq: 1 })
  }),
]
