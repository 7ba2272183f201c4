// Reads what strace wrote: which calls a process made, and whether one thing was durable before the next began.

export type Call = {
  readonly name: string
  readonly args: string
  /** Empty for a call that never returned. */
  readonly result: string
  /** Places in the trace. */
  readonly begun: number
  readonly ended: number
}

const line_form = /^\d+\s+(?:<\.\.\. \w+ resumed>(?<rest>.*)|(?<name>\w+)\((?<args>.*))$/
const end_form = /^(?<args>.*)\)\s+= (?<result>.*)$/
const unfinished = ' <unfinished ...>'

/** Of a trace made with `strace -f -y`, in the order in which they began. */
export function callsOf(trace: string): Call[] {
  const calls: Call[] = []
  const pending = new Map<string, { place: number; name: string; args: string }>()
  for (const [place, line] of trace.split('\n').entries()) {
    const found = line_form.exec(line)?.groups
    if (!found) continue
    const pid = line.split(/\s/, 1)[0] ?? ''
    const { name = '', args = '', rest } = found
    if (rest === undefined && args.endsWith(unfinished)) {
      pending.set(pid, { place, name, args: args.slice(0, -unfinished.length) })
      continue
    }
    const begun = rest === undefined ? { place, name, args: '' } : pending.get(pid)
    const ended = end_form.exec(rest ?? args)?.groups
    pending.delete(pid)
    if (!begun || !ended) continue
    const { args: said = '', result = '' } = ended
    calls.push({ name: begun.name, args: begun.args + said, result, begun: begun.place, ended: place })
  }
  for (const { place, name, args } of pending.values()) {
    calls.push({ name, args, result: '', begun: place, ended: Number.POSITIVE_INFINITY })
  }
  return calls.sort((a, b) => a.begun - b.begun)
}

export type Link = { readonly what: string; readonly is: (call: Call) => boolean }

/** The first link that no call makes which began after that of the link before had ended well; undefined: none is broken. */
export function brokenLink(calls: readonly Call[], chain: readonly Link[]): string | undefined {
  let after = -1
  for (const { what, is } of chain) {
    const call = calls.find((each) => each.begun > after && is(each))
    if (!call || call.result === '' || call.result.startsWith('-1')) return what
    after = call.ended
  }
  return undefined
}

/** A write into the write-ahead log of the role's journal of pages that hold all these texts. */
export function logs(role: string, ...texts: readonly string[]): Link {
  const isOf = new RegExp(`^\\d+<[^>]*/${role}\\.db-wal>`)
  const is = ({ name, args }: Call) =>
    name === 'pwrite64' && isOf.test(args) && texts.every((text) => args.includes(text))
  return { what: `${role} logs ${texts.join(' ')}`, is }
}

export function syncs(ending: string): Link {
  const is = ({ name, args }: Call) => /^f(data)?sync$/.test(name) && args.endsWith(`${ending}>`)
  return { what: `sync of ${ending}`, is }
}

export function creates(ending: string): Link {
  const is = ({ name, args }: Call) => name === 'openat' && args.includes(`${ending}"`) && args.includes('O_CREAT')
  return { what: `creation of ${ending}`, is }
}

export function writes(ending: string): Link {
  const is = ({ name, args }: Call) => name === 'write' && args.split('>', 1)[0]?.endsWith(ending) === true
  return { what: `write to ${ending}`, is }
}

export function renames(from: string, to: string): Link {
  const is = ({ name, args }: Call) =>
    /^rename(at2?)?$/.test(name) && args.includes(`${from}"`) && args.endsWith(`${to}"`)
  return { what: `rename of ${from} to ${to}`, is }
}

export type Step =
  | { readonly what: 'ask' | 'ack'; readonly id: string }
  | { readonly what: 'journal-write' }
  | { readonly what: 'journal-sync' }

/** What a process asked, wrote to its journal, synced and acknowledged. A sync counts when it has returned without error. */
export function stepsOf(trace: string): Step[] {
  const steps = callsOf(trace).flatMap((call) => {
    const step = stepOf(call)
    return step ? [{ step, place: step.what === 'journal-sync' ? call.ended : call.begun }] : []
  })
  return steps.sort((a, b) => a.place - b.place).map(({ step }) => step)
}

function stepOf({ name, args, result }: Call): Step | undefined {
  const said = name === 'write' ? /^1<.*"(ask|ack) ([\d.]+)\\n"/.exec(args) : null
  if (said) return { what: said[1] as 'ask' | 'ack', id: said[2] ?? '' }
  if (!/^\d+<[^>]*-wal>/.test(args)) return undefined
  if (name === 'pwrite64') return { what: 'journal-write' }
  return /^f(data)?sync$/.test(name) && result === '0' ? { what: 'journal-sync' } : undefined
}

/** Ids that were acknowledged with no sync of the journal since it was written for them. */
export function earlyAcknowledgements(steps: readonly Step[]): string[] {
  const early: string[] = []
  const asked = new Map<string, number>()
  let lastWrite = -1
  let lastSync = -1
  let syncedWrite = -1
  for (const [place, step] of steps.entries()) {
    if (step.what === 'ask') asked.set(step.id, place)
    else if (step.what === 'journal-write') lastWrite = place
    else if (step.what === 'journal-sync') {
      lastSync = place
      syncedWrite = lastWrite
    } else if (syncedWrite < (asked.get(step.id) ?? Number.POSITIVE_INFINITY) || lastWrite > lastSync) {
      early.push(step.id)
    }
  }
  return early
}
