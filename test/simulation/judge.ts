// Heals a history, and then asks of every message what became of it.

import { sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { History, type KeyRing, type SentMessage } from './history.ts'
import { SimulatedFile } from './inode.ts'

const faulty_step_count = 45
const max_healing_rounds = 12
const min_healing_rounds = 4
const inChannel = 'filedrop/alpha/bravo'

/** The faults at the end, after the history; empty without any. `tamper`: once, when all was well. */
export async function findHistoryFaults(
  seed: number,
  ring: KeyRing,
  tamper?: (history: History) => void | Promise<void>,
): Promise<string[]> {
  const history = new History(seed, ring)
  try {
    await history.begin()
    for (let i = 0; i < faulty_step_count; i++) await history.step()
    let faults = await healHistory(history)
    if (tamper) {
      await tamper(history)
      faults = await judgeHistory(history)
    }
    return faults.length === 0 ? [] : [...faults, `after: ${history.eventLog.join(', ')}`]
  } catch (error) {
    return [`it ended in ${error}`, `after: ${history.eventLog.join(', ')}`]
  } finally {
    await history.end()
  }
}

/** Nothing dies any more, the carrier is faithful, and people do as the channel requests; the remaining faults. */
async function healHistory(history: History): Promise<string[]> {
  history.pinKeys()
  let faults: string[] = []
  for (let round = 0; round < max_healing_rounds; round++) {
    await healOnce(history)
    // Long enough for an inventory, and to give up incomplete messages.
    history.pass(round % 4 === 2 ? 25 * 3_600_000 : 301_000)
    if (round < min_healing_rounds) continue
    faults = await judgeHistory(history)
    if (faults.length === 0) break
  }
  return faults
}

async function judgeHistory(history: History): Promise<string[]> {
  return [...(await judgeMessages(history)), ...(await findRemains(history)), ...(await judgeRecords(history))]
}

async function healOnce(history: History): Promise<void> {
  const { alpha, bravo, there } = history
  await alpha.transport.rescan()
  const [out] = (await alpha.transport.status()).filter(({ direction }) => direction === 'out')
  if (out?.state === 'frozen') await history.openEpoch()
  await history.repeatPending()
  await alpha.transport.rescan()
  there.carry('faithful')
  await bravo.transport.rescan()
  await history.sendReceipt()
  await resendOldEpochs(history)
  await releaseLate(history)
}

async function resendOldEpochs({ alpha, bravo }: History): Promise<void> {
  const { epoch } = await alpha.journal.head(inChannel)
  for (let old = 1; old < epoch; old++) {
    const receipt = await bravo.transport.oneWay.gapReceipt('alpha', old)
    await alpha.transport.oneWay.resendFor(receipt)
  }
}

/** As two people do it for what was under way for too long, where nothing else brings it in. */
async function releaseLate({ bravo }: History): Promise<void> {
  const { entries } = bravo.machine.folder('filedrop/alpha/in/quarantine')
  const digestOf = (name: string) => {
    const file = entries.get(name)
    return file instanceof SimulatedFile ? sha384(file.data) : undefined
  }
  for (const { id, epoch = 0, seq = 0, reason } of listReasons(bravo)) {
    const digests = [digestOf(`${id}.body.json`), digestOf(`${id}.env.json`)].filter((digest) => digest !== undefined)
    const entry = await bravo.journal.entry(inChannel, epoch, seq)
    // A message taken in and lost with the power may have grown too old by its return.
    const isMissing = entry === undefined || entry.state === 'lost'
    if (!isLasting(reason) || digests.length < 2 || !isMissing) continue
    await bravo.transport.custody.release('alpha', { id, waiver: reason, digests, label: undefined }, [])
  }
}

type QuarantineReason = { readonly id: string; readonly epoch?: number; readonly seq?: number; readonly reason: string }

function listReasons(bravo: History['bravo']): QuarantineReason[] {
  const { entries } = bravo.machine.folder('filedrop/alpha/in/quarantine')
  return [...entries].flatMap(([name, file]) =>
    name.endsWith('.reason.json') && file instanceof SimulatedFile
      ? [{ ...JSON.parse(file.data.toString('utf8')), id: name.slice(0, -'.reason.json'.length) }]
      : [],
  )
}

/** Reasons that another copy of the same bytes meets again: only people can let them pass. */
const lastingReasons = ['EXPIRED', 'FUTURE'] as const

function isLasting(reason: string): reason is (typeof lastingReasons)[number] {
  return lastingReasons.some((each) => each === reason)
}

async function judgeMessages(history: History): Promise<string[]> {
  const { bravo, pending, sentMessages, forgotten } = history
  const reasons = listReasons(bravo)
  const faults = [...pending.keys()].map((event) => `${event} was never sent`)
  for (const each of sentMessages.values()) faults.push(...(await findMessageFault(each, history, reasons)))
  const known = new Set([...sentMessages.values(), ...forgotten].map(({ msg_id }) => msg_id))
  for (const msg_id of bravo.effects) if (!known.has(msg_id)) faults.push(`${msg_id} was applied and never sent`)
  for (const [msg_id, times] of bravo.deliveries) {
    if (times > 1 + history.deaths) faults.push(`${msg_id} was handed over ${times} times in ${history.deaths} deaths`)
  }
  return faults
}

async function findMessageFault(
  { event_id, msg_id, epoch, seq }: SentMessage,
  { bravo }: History,
  reasons: readonly QuarantineReason[],
) {
  const entry = await bravo.journal.entry(inChannel, epoch, seq)
  const where = `${event_id} (${epoch}/${seq})`
  const has = (...wanted: string[]) =>
    reasons.some((each) => each.epoch === epoch && each.seq === seq && wanted.includes(each.reason))
  // The file with the reason may have gone with the power; what the chain says of it has not.
  const isReported = async (reason: string) => has(reason) || (await isOnRecord(bravo, { epoch, seq, reason }))
  if (!entry) return has(...lastingReasons) ? [] : [`${where} is missing without a reason`]
  if (entry.msg_id !== msg_id) return [`${where} is another message`]
  if (entry.state === 'applied') return bravo.effects.has(msg_id) ? [] : [`${where} is applied without an effect`]
  if (bravo.effects.has(msg_id)) return [`${where} is ${entry.state} and has had its effect`]
  if (entry.state === 'refused') return (await isReported('REFUSED')) ? [] : [`${where} is refused without a reason`]
  if (entry.state === 'quarantined')
    return (await isReported(entry.code)) ? [] : [`${where} lies nowhere: ${entry.code}`]
  const { floor } = await bravo.journal.progress(inChannel, epoch)
  return entry.kind !== 'contribution' && floor < seq ? [] : [`${where} waits for nothing`]
}

async function isOnRecord(bravo: History['bravo'], wanted: Record<'epoch' | 'seq' | 'reason', unknown>) {
  const found = await bravo.audit.list({ action: 'filedrop.message.quarantined', limit: 1_000 })
  return found.some(({ event }) => Object.entries(wanted).every(([name, value]) => event?.detail[name] === value))
}

/** Nothing lies about that nobody will ever look at again. */
async function findRemains({ alpha, bravo }: History): Promise<string[]> {
  const names = (site: typeof alpha, path: string) => [...site.machine.folder(path).entries.keys()]
  const held = new Set<string>()
  for (const name of names(bravo, 'filedrop/alpha/in/work')) {
    const [epoch = '', seq = ''] = name.split(/[-.]/)
    const entry = await bravo.journal.entry(inChannel, Number(epoch), Number(seq))
    if (entry?.state === 'received') held.add(name)
  }
  // A copy of what waits behind a gap waits with it.
  const isCopy = (name: string) =>
    held.has(name.replace('.env.', '.body.')) || held.has(name.replace('.body.', '.env.'))
  const left = [
    ...names(alpha, 'filedrop/bravo/out/tmp'),
    ...names(bravo, 'filedrop/alpha/in/new').filter((name) => !isCopy(name)),
    ...names(bravo, 'filedrop/alpha/in/work').filter((name) => !held.has(name)),
  ]
  return left.map((name) => `${name} is left over`)
}

async function judgeRecords({ alpha, bravo }: History): Promise<string[]> {
  const faults: string[] = []
  for (const site of [alpha, bravo]) {
    const broken = await site.audit.verify()
    if (broken) faults.push(`the audit chain of ${site.name} is broken: ${JSON.stringify(broken)}`)
    const status = (await site.transport.status()).filter(({ state }) => state !== 'open')
    for (const { direction, state, detail } of status) faults.push(`${site.name} ${direction} is ${state}: ${detail}`)
  }
  return faults
}
