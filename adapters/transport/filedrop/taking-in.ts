// One message on its way in: waited for, moved to work, examined, handed on, and put where its fate says.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Incoming, Verdict } from '../../../daemon/kernel/transport.ts'
import { examine, type Finding, type Place } from './checks.ts'
import { isComplete } from './completeness.ts'
import { type Item, pathOf } from './dropbox.ts'
import { applied, closeSettled, type Desk, putAway, settleAs } from './fate.ts'
import { fileOf, parts } from './names.ts'
import { isOrdered } from './ordering.ts'
import { fault } from './reasons.ts'
import { bytesOf, known, readSpecimen, type Specimen, statementOf } from './specimen.ts'

export type Deliver = (message: Incoming) => Promise<Verdict>

/** `wait`: not complete yet. `held`: behind a gap. `pause`: no message can be judged now. `freeze`: the channel stops. */
export type Taken = 'done' | 'wait' | 'held' | 'pause' | 'freeze'

/** Takes in a message of which both parts are there. Throws when something fails that is no fault of the message. */
export async function takeIn(item: Item, desk: Desk, deliver: Deliver, mayOvertake: boolean): Promise<Taken> {
  const { line, place } = desk
  const wasInWork = item.env === 'work' && item.body === 'work'
  if (!wasInWork) {
    if (!isComplete(line.folders, item, desk.around.settings)) return 'wait'
    moveToWork(item, desk)
  } else {
    const held = desk.held.get(item.stem)
    if (held && !(await isNext(held, place))) return 'held'
    if (await isPoison(item, desk)) return 'done'
  }
  const paths = {
    env: join(line.folders.work, fileOf(item.stem, 'env')),
    body: join(line.folders.work, fileOf(item.stem, 'body')),
  }
  const specimen = readSpecimen(fileOf(item.stem, 'env'), paths, desk.around.settings, true)
  const finding = await examine(specimen, desk.trust, place)
  return await act(finding, specimen, { item, desk, deliver, mayOvertake, wasInWork })
}

type Taking = {
  readonly item: Item
  readonly desk: Desk
  readonly deliver: Deliver
  readonly mayOvertake: boolean
  readonly wasInWork: boolean
}

async function act(finding: Finding, specimen: Specimen, taking: Taking): Promise<Taken> {
  const { item, desk, wasInWork } = taking
  if (finding.found === 'settled') {
    await closeSettled(item, known(specimen, 'entry'), desk, wasInWork)
    return 'done'
  }
  if (finding.found === 'sound') return await apply(specimen, taking)
  if (finding.fault.reason === 'EQUIVOCATION') await desk.freeze(finding.fault.detail, specimen)
  if (finding.isProven) await settleAs('quarantined', finding.fault, specimen, desk)
  await putAway(item, finding.fault, desk, specimen)
  return finding.fault.reason === 'EQUIVOCATION' ? 'freeze' : 'done'
}

/** The ledger first, then the effect, then the ledger again: each may be repeated after a crash. */
async function apply(specimen: Specimen, { item, desk, deliver, mayOvertake }: Taking): Promise<Taken> {
  const { journal, clock, settings } = desk.around
  const statement = statementOf(specimen)
  const { epoch, seq, prev, msg_id, kind } = statement
  const digest = known(specimen, 'digest')
  await journal.receive(desk.place.channel, { epoch, seq, digest, prev, msg_id, kind, at: clock.now() })
  if (isOrdered(kind) && !(mayOvertake && (await isNext({ epoch, seq }, desk.place)))) {
    if (desk.held.has(item.stem) || desk.held.size < settings.max_held) return await hold(item, desk)
    return await refuseWith(
      fault('QUOTA', `${settings.max_held} messages wait behind a gap already`),
      specimen,
      item,
      desk,
    )
  }
  const verdict = await deliver({
    statement,
    body: known(specimen, 'content').data,
    signer_key_id: known(specimen, 'signers')[0]?.kid ?? '',
    envelope: bytesOf(specimen.envelope).toString('utf8'),
    body_text: bytesOf(specimen.body).toString('utf8'),
  })
  if (verdict.verdict === 'later') return await later(item, verdict.detail, desk)
  if (verdict.verdict === 'applied') {
    await applied(item, specimen, desk)
    return 'done'
  }
  const { code, detail } = verdict
  return await refuseWith({ reason: 'REFUSED', code, detail }, specimen, item, desk)
}

async function refuseWith(
  why: Parameters<typeof putAway>[1],
  specimen: Specimen,
  item: Item,
  desk: Desk,
): Promise<Taken> {
  await settleAs(why.reason === 'REFUSED' ? 'refused' : 'quarantined', why, specimen, desk)
  await putAway(item, why, desk, specimen)
  return 'done'
}

/** Not the message's fault: its attempts are forgiven, and intake pauses with the files left where they are. */
async function later(item: Item, detail: string, desk: Desk): Promise<Taken> {
  desk.line.trouble.set('in', `intake pauses: ${detail}`)
  desk.around.log.warn('filedrop.intake.paused', { peer: desk.line.peer, detail })
  await forgive(item, desk)
  return 'pause'
}

async function hold(item: Item, desk: Desk): Promise<Taken> {
  desk.held.set(item.stem, { epoch: item.epoch, seq: item.seq })
  await forgive(item, desk)
  return 'held'
}

async function forgive({ stem, epoch, seq }: Item, desk: Desk): Promise<void> {
  desk.deferred.add(stem)
  await desk.around.journal.forgive(desk.place.channel, epoch, seq)
}

/** Whether everything before has arrived. */
async function isNext({ epoch, seq }: { epoch: number; seq: number }, { journal, channel }: Place): Promise<boolean> {
  return (await journal.progress(channel, epoch)).floor >= seq
}

/**
 * A file found in `work` was there when a process died or a step threw: that attempt is counted now, before it is
 * opened again. So a message costs no write for the attempts that go well.
 */
async function isPoison(item: Item, desk: Desk): Promise<boolean> {
  if (desk.deferred.has(item.stem)) return false
  const { journal, settings } = desk.around
  const failed = await journal.failed(desk.place.channel, item.epoch, item.seq)
  if (failed < settings.max_attempts) return false
  const why = fault('POISON', `${failed} attempts ended in a crash or an exception`)
  const { epoch, seq } = item
  await journal.settle(desk.place.channel, epoch, seq, { state: 'quarantined', code: why.reason })
  await putAway(item, why, desk)
  return true
}

function moveToWork(item: Item, { line }: Desk): void {
  for (const part of parts) {
    if (item[part] === 'new')
      fs.renameSync(pathOf(line.folders, item, part), join(line.folders.work, fileOf(item.stem, part)))
  }
}
