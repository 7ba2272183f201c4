// Takes messages of one peer in, all at once: landed and judged ones are acknowledged, dead ones buried, the rest is tried again.
import type { Channel, ConsumeMessage } from 'amqplib'
import type { Log } from '../../../daemon/kernel/call.ts'
import type { Judged, Landed, Landing, Parcel } from '../../../daemon/kernel/carrier.ts'
import { type Dead, parcelIn } from './message.ts'
import { troubleOf } from './trouble.ts'

type Taking = {
  readonly peer: string
  readonly channel: Channel
  readonly user: string | undefined
  readonly isLarge: (message: ConsumeMessage) => boolean
  readonly land: Landed
  readonly judged: Judged
  readonly bury: (message: ConsumeMessage, reason: string, detail: string) => Promise<void>
  readonly log: Log
}

/** Messages that stay in hand, and why. */
export type Batch = { readonly messages: readonly ConsumeMessage[]; readonly trouble: string | undefined }

type Opened = { readonly message: ConsumeMessage; readonly parcel: Parcel }

export async function takeIn(taking: Taking, messages: readonly ConsumeMessage[]): Promise<Batch> {
  const { channel, user, isLarge } = taking
  const kept: ConsumeMessage[] = []
  const opened: Opened[] = []
  const troubles: string[] = []
  for (const message of messages) {
    // The broker alone has what it says: it moves the message itself.
    if (isLarge(message)) {
      told(taking, { reason: 'TOO_LARGE', detail: 'it is larger than any parcel' })
      channel.nack(message, false, false)
      continue
    }
    const parcel = parcelIn(message, user)
    if ('reason' in parcel) {
      const trouble = await buried(taking, message, parcel)
      if (trouble !== undefined) kept.push(message)
      if (trouble !== undefined) troubles.push(trouble)
    } else opened.push({ message, parcel })
  }
  const landed = await landAll(taking, opened)
  return {
    messages: [...kept, ...landed.messages],
    trouble: troubles[0] ?? landed.trouble,
  }
}

/** Why it could not be. */
async function buried(taking: Taking, message: ConsumeMessage, dead: Dead): Promise<string | undefined> {
  try {
    await taking.bury(message, dead.reason, dead.detail)
    told(taking, dead)
    taking.channel.ack(message)
    return undefined
  } catch (error) {
    return `its dead letters cannot be put away: ${troubleOf(error)}`
  }
}

function told({ log, peer }: Taking, { reason, detail }: Dead): void {
  log.warn('carrier.message.dead', { peer, reason, detail })
}

/** Acknowledged once the site has dealt with it, or has it on disk for a reason of its own. */
async function landAll(taking: Taking, opened: readonly Opened[]): Promise<Batch> {
  if (opened.length === 0) return { messages: [], trouble: undefined }
  const { peer, channel, land, judged } = taking
  try {
    const landings = await land(
      peer,
      opened.map(({ parcel }) => parcel),
    )
    const isDone = (index: number) => landings[index] === 'landed'
    if (opened.some((_, index) => isDone(index))) await judged(peer)
    for (const [index, { message }] of opened.entries()) if (isDone(index)) channel.ack(message)
    const others = opened.flatMap((each, index) => (isDone(index) ? [] : [{ ...each, landing: landings[index] }]))
    return await withoutLarge(taking, others)
  } catch (error) {
    return { messages: opened.map(({ message }) => message), trouble: troubleOf(error) }
  }
}

type Other = Opened & { readonly landing: Landing | undefined }

/** What is larger than this site takes will be so tomorrow. */
async function withoutLarge(taking: Taking, others: readonly Other[]): Promise<Batch> {
  const dead: Dead = { reason: 'TOO_LARGE', detail: 'it is larger than this site takes' }
  const stay = others.filter(({ landing }) => landing !== 'too_large')
  const kept: ConsumeMessage[] = []
  let trouble = wordsOf(stay[0]?.landing, stay.length)
  for (const { message, landing } of others) {
    const why = landing === 'too_large' ? await buried(taking, message, dead) : undefined
    if (why !== undefined) kept.push(message)
    trouble ??= why
  }
  return { messages: [...stay.map(({ message }) => message), ...kept], trouble }
}

function wordsOf(landing: Landing | undefined, count: number): string | undefined {
  if (count === 0) return undefined
  return landing === 'in_the_way' ? 'other bytes wait under a number that came again' : 'this site takes nothing now'
}
