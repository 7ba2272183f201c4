// Reads what strace wrote: which calls a process made, and whether one thing was durable before the next began.

export type SystemCall = {
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
const unfinished_marker = ' <unfinished ...>'

/** Of a trace made with `strace -f -y`, in the order in which they began. */
export function parseCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = []
  const pending = new Map<string, { place: number; name: string; args: string }>()
  for (const [place, line] of trace.split('\n').entries()) {
    const found = line_form.exec(line)?.groups
    if (!found) continue
    const pid = line.split(/\s/, 1)[0] ?? ''
    const { name = '', args = '', rest } = found
    if (rest === undefined && args.endsWith(unfinished_marker)) {
      pending.set(pid, { place, name, args: args.slice(0, -unfinished_marker.length) })
      continue
    }
    const begun = rest === undefined ? { place, name, args: '' } : pending.get(pid)
    const ended = end_form.exec(rest ?? args)?.groups
    pending.delete(pid)
    if (!begun || !ended) continue
    const { args: text = '', result = '' } = ended
    calls.push({ name: begun.name, args: begun.args + text, result, begun: begun.place, ended: place })
  }
  for (const { place, name, args } of pending.values()) {
    calls.push({ name, args, result: '', begun: place, ended: Number.POSITIVE_INFINITY })
  }
  return nameDescriptors(calls.sort((a, b) => a.begun - b.begun))
}

/** A path through an open folder, `/proc/self/fd/<number>`, as the path that the folder was opened under. */
function nameDescriptors(calls: readonly SystemCall[]): SystemCall[] {
  const opened = new Map<string, string>()
  return calls.map((call) => {
    const args = call.args.replaceAll(
      /\/proc\/self\/fd\/(\d+)(?=[/"])/g,
      (text, descriptor: string) => opened.get(descriptor) ?? text,
    )
    const [, descriptor, path] = /^(\d+)<([^>]*)>$/.exec(call.result) ?? []
    if (call.name === 'openat' && descriptor && path) opened.set(descriptor, path)
    return { ...call, args }
  })
}

export type CallMatcher = { readonly what: string; readonly matches: (call: SystemCall) => boolean }

/** The first link that no call makes which began after that of the link before had ended well; undefined: none is broken. */
export function findBrokenLink(calls: readonly SystemCall[], chain: readonly CallMatcher[]): string | undefined {
  let after = -1
  for (const { what, matches } of chain) {
    const call = calls.find((each) => each.begun > after && matches(each))
    if (!call || call.result === '' || call.result.startsWith('-1')) return what
    after = call.ended
  }
  return undefined
}

/** A write into the write-ahead log of the role's journal of pages that hold all these texts. */
export function matchJournalWrite(role: string, ...texts: readonly string[]): CallMatcher {
  const isOf = new RegExp(`^\\d+<[^>]*/${role}\\.db-wal>`)
  const is = ({ name, args }: SystemCall) =>
    name === 'pwrite64' && isOf.test(args) && texts.every((text) => args.includes(text))
  return { what: `${role} logs ${texts.join(' ')}`, matches: is }
}

export function matchSync(ending: string): CallMatcher {
  const is = ({ name, args }: SystemCall) => /^f(data)?sync$/.test(name) && args.endsWith(`${ending}>`)
  return { what: `sync of ${ending}`, matches: is }
}

export function matchCreate(ending: string): CallMatcher {
  const is = ({ name, args }: SystemCall) =>
    name === 'openat' && args.includes(`${ending}"`) && args.includes('O_CREAT')
  return { what: `creation of ${ending}`, matches: is }
}

export function matchWrite(ending: string): CallMatcher {
  const is = ({ name, args }: SystemCall) => name === 'write' && args.split('>', 1)[0]?.endsWith(ending) === true
  return { what: `write to ${ending}`, matches: is }
}

export function matchRename(from: string, to: string): CallMatcher {
  const is = ({ name, args }: SystemCall) =>
    /^rename(at2?)?$/.test(name) && args.includes(`${from}"`) && args.endsWith(`${to}"`)
  return { what: `rename of ${from} to ${to}`, matches: is }
}

export type DurabilityStep =
  | { readonly what: 'ask' | 'ack'; readonly id: string }
  | { readonly what: 'journal-write' }
  | { readonly what: 'journal-sync' }

/** Requests, journal writes, syncs and acknowledgements of a process. A sync counts when it has returned without error. */
export function parseSteps(trace: string): DurabilityStep[] {
  const steps = parseCalls(trace).flatMap((call) => {
    const step = parseStep(call)
    return step ? [{ step, place: step.what === 'journal-sync' ? call.ended : call.begun }] : []
  })
  return steps.sort((a, b) => a.place - b.place).map(({ step }) => step)
}

function parseStep({ name, args, result }: SystemCall): DurabilityStep | undefined {
  const line = name === 'write' ? /^1<.*"(ask|ack) ([\d.]+)\\n"/.exec(args) : null
  if (line) return { what: line[1] as 'ask' | 'ack', id: line[2] ?? '' }
  if (!/^\d+<[^>]*-wal>/.test(args)) return undefined
  if (name === 'pwrite64') return { what: 'journal-write' }
  return /^f(data)?sync$/.test(name) && result === '0' ? { what: 'journal-sync' } : undefined
}

/** Ids that were acknowledged with no sync of the journal since it was written for them. */
export function findEarlyAcknowledgements(steps: readonly DurabilityStep[]): string[] {
  const early: string[] = []
  const requested = new Map<string, number>()
  let lastWrite = -1
  let lastSync = -1
  let syncedWrite = -1
  for (const [place, step] of steps.entries()) {
    if (step.what === 'ask') requested.set(step.id, place)
    else if (step.what === 'journal-write') lastWrite = place
    else if (step.what === 'journal-sync') {
      lastSync = place
      syncedWrite = lastWrite
    } else if (syncedWrite < (requested.get(step.id) ?? Number.POSITIVE_INFINITY) || lastWrite > lastSync) {
      early.push(step.id)
    }
  }
  return early
}
