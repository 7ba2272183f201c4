// Receives messages of one peer: acknowledges landed and judged ones, dead-letters invalid ones, retries the rest.
import type { Channel, ConsumeMessage } from 'amqplib'
import type {
  CarriedMessage,
  CarryOutcome,
  IntakeBarrier,
  MessageReceiver,
} from '../../../daemon/kernel/messaging/carrier.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { describeBrokerError } from './broker-error.ts'
import { type DeadLetter, decodeParcel } from './message.ts'

type PeerDeliveryContext = {
  readonly peer: string
  readonly channel: Channel
  readonly user: string | undefined
  readonly isLarge: (message: ConsumeMessage) => boolean
  readonly land: MessageReceiver
  readonly judged: IntakeBarrier
  readonly deadLetter: (message: ConsumeMessage, reason: string, detail: string) => Promise<void>
  readonly log: Log
}

/** Messages that stay in hand, and why. */
export type UnacknowledgedBatch = { readonly messages: readonly ConsumeMessage[]; readonly trouble: string | undefined }

type DecodedMessage = { readonly message: ConsumeMessage; readonly parcel: CarriedMessage }

export async function landMessages(
  taking: PeerDeliveryContext,
  messages: readonly ConsumeMessage[],
): Promise<UnacknowledgedBatch> {
  const { channel, user, isLarge } = taking
  const kept: ConsumeMessage[] = []
  const opened: DecodedMessage[] = []
  const troubles: string[] = []
  for (const message of messages) {
    // The broker alone has what it says: it moves the message itself.
    if (isLarge(message)) {
      logDeadLetter(taking, { reason: 'TOO_LARGE', detail: 'it is larger than any parcel' })
      channel.nack(message, false, false)
      continue
    }
    const parcel = decodeParcel(message, user)
    if ('reason' in parcel) {
      const trouble = await moveToDeadLetters(taking, message, parcel)
      if (trouble !== undefined) kept.push(message)
      if (trouble !== undefined) troubles.push(trouble)
    } else opened.push({ message, parcel })
  }
  const landed = await landParcels(taking, opened)
  return {
    messages: [...kept, ...landed.messages],
    trouble: troubles[0] ?? landed.trouble,
  }
}

/** Why it could not be. */
async function moveToDeadLetters(
  taking: PeerDeliveryContext,
  message: ConsumeMessage,
  dead: DeadLetter,
): Promise<string | undefined> {
  try {
    await taking.deadLetter(message, dead.reason, dead.detail)
    logDeadLetter(taking, dead)
    taking.channel.ack(message)
    return undefined
  } catch (error) {
    return `its dead letters cannot be put away: ${describeBrokerError(error)}`
  }
}

function logDeadLetter({ log, peer }: PeerDeliveryContext, { reason, detail }: DeadLetter): void {
  log.warn('carrier.message.dead', { peer, reason, detail })
}

/** Acknowledged once the site has dealt with it, or has it on disk for a reason of its own. */
async function landParcels(
  taking: PeerDeliveryContext,
  opened: readonly DecodedMessage[],
): Promise<UnacknowledgedBatch> {
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
    return await deadLetterOversized(taking, others)
  } catch (error) {
    return { messages: opened.map(({ message }) => message), trouble: describeBrokerError(error) }
  }
}

type UnlandedMessage = DecodedMessage & { readonly landing: CarryOutcome | undefined }

/** A message that is larger than this site accepts becomes a dead letter: a retry cannot succeed. */
async function deadLetterOversized(
  taking: PeerDeliveryContext,
  others: readonly UnlandedMessage[],
): Promise<UnacknowledgedBatch> {
  const dead: DeadLetter = { reason: 'TOO_LARGE', detail: 'it is larger than this site accepts' }
  const stay = others.filter(({ landing }) => landing !== 'too_large')
  const kept: ConsumeMessage[] = []
  let trouble = describeLanding(stay[0]?.landing, stay.length)
  for (const { message, landing } of others) {
    const why = landing === 'too_large' ? await moveToDeadLetters(taking, message, dead) : undefined
    if (why !== undefined) kept.push(message)
    trouble ??= why
  }
  return { messages: [...stay.map(({ message }) => message), ...kept], trouble }
}

function describeLanding(landing: CarryOutcome | undefined, count: number): string | undefined {
  if (count === 0) return undefined
  return landing === 'in_the_way'
    ? 'other bytes wait under a number that came again'
    : 'this site accepts no messages at present'
}
