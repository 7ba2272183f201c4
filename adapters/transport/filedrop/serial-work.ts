// Queues for work that must not overlap: requests are batched, serialised, or merged into one more run.

/**
 * Hands requests to `run` in the order they came, as many at once as have come while the last run was under way, up to
 * `most`. The n-th answer belongs to the n-th request; an error of `run` is the answer to all of them.
 */
export function batchRequests<Q, A>(
  most: number,
  run: (requests: readonly Q[]) => Promise<readonly A[]>,
): (request: Q) => Promise<A> {
  type QueuedRequest = { readonly request: Q; readonly answer: (given: Promise<A>) => void }
  const queue: QueuedRequest[] = []
  let isRunning = false

  const work = async () => {
    while (queue.length > 0) {
      const batch = queue.splice(0, most)
      const running = run(batch.map(({ request }) => request))
      for (const [index, { answer }] of batch.entries()) answer(running.then((answers) => answers[index] as A))
      await running.catch(() => undefined)
    }
    isRunning = false
  }
  return (request) =>
    new Promise((answer) => {
      queue.push({ request, answer })
      if (isRunning) return
      isRunning = true
      void work()
    })
}

/** Runs tasks one after the other, in the order of the calls. */
export function serialQueue(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const running = last.then(run)
    last = running.catch(() => undefined)
    return running
  }
}

export type WorkLoop = {
  /** Runs soon: at once, or after the run that is under way. Many requests are one run. */
  trigger(): void
  /** Resolves when nothing runs and nothing is requested; after `stop`, when the last run has ended. */
  idle(): Promise<void>
  /** Triggers, and resolves when a run that began after this call has ended; also when there will be none. */
  triggerAndWait(): Promise<void>
  stop(): void
}

/**
 * Errors of `run` go to `onError`, and the loop continues. A long run checks `isStopped` between its steps and ends
 * early.
 */
export function workLoop(
  run: (isStopped: () => boolean) => Promise<void>,
  onError: (error: unknown) => void,
): WorkLoop {
  let isWanted = false
  let isStopped = false
  let running: Promise<void> | undefined
  let waiting: (() => void)[] = []

  const takeWaiting = () => {
    const resolvers = waiting
    waiting = []
    return () => {
      for (const resolve of resolvers) resolve()
    }
  }
  const turn = async () => {
    while (isWanted && !isStopped) {
      isWanted = false
      const hasEnded = takeWaiting()
      try {
        await run(() => isStopped)
      } catch (error) {
        onError(error)
      }
      hasEnded()
    }
    running = undefined
    if (isStopped) takeWaiting()()
  }
  const trigger = () => {
    if (isStopped) return
    isWanted = true
    running ??= turn()
  }
  return {
    trigger,
    async triggerAndWait() {
      if (isStopped) return
      await new Promise<void>((ended) => {
        waiting.push(ended)
        trigger()
      })
    },
    async idle() {
      while (running) await running
    },
    stop() {
      isStopped = true
    },
  }
}
