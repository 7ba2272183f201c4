// Reads what strace wrote: the order in which a process asked, wrote its journal, synced it, and acknowledged.

export type Step =
  | { readonly what: 'ask' | 'ack'; readonly id: string }
  | { readonly what: 'journal-write' }
  | { readonly what: 'journal-sync' }

/**
 * Steps of a trace made with `strace -f -y -e trace=fsync,fdatasync,pwrite64,write`. A sync counts when it has
 * returned without error; the others when they begin.
 */
export function stepsOf(trace: string): Step[] {
  const steps: Step[] = []
  const syncing = new Set<string>()
  for (const line of trace.split('\n')) {
    const pid = line.split(/\s/, 1)[0] ?? ''
    const said = /write\(1<.*"(ask|ack) ([\d.]+)\\n"/.exec(line)
    if (said) steps.push({ what: said[1] as 'ask' | 'ack', id: said[2] ?? '' })
    else if (/pwrite64\(\d+<[^>]*-wal>/.test(line)) steps.push({ what: 'journal-write' })
    else if (/f(data)?sync\(\d+<[^>]*-wal>/.test(line)) {
      if (line.includes('unfinished')) syncing.add(pid)
      else if (line.endsWith('= 0')) steps.push({ what: 'journal-sync' })
    } else if (/<\.\.\. f(data)?sync resumed>/.test(line) && syncing.delete(pid) && line.endsWith('= 0')) {
      steps.push({ what: 'journal-sync' })
    }
  }
  return steps
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
