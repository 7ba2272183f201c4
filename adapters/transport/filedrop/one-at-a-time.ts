// Work that many things ask for and that must never overlap: queued one after another, or merged into one more run.

/** Runs jobs one after another in the order they were given. */
export function inLine(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const next = last.then(job)
    last = next.catch(() => undefined)
    return next
  }
}

export type Loop = {
  /** Runs soon: at once, or after the run that is under way. Many requests are one run. */
  trigger(): void
  /** Resolves when nothing runs and nothing is asked for; after `stop`, when the last run has ended. */
  idle(): Promise<void>
  stop(): void
}

/** `run` must not throw on what it expects; what it throws goes to `onError`, and the loop lives on. */
export function loop(run: () => Promise<void>, onError: (error: unknown) => void): Loop {
  let isWanted = false
  let isStopped = false
  let running: Promise<void> | undefined

  const turn = async () => {
    while (isWanted && !isStopped) {
      isWanted = false
      try {
        await run()
      } catch (error) {
        onError(error)
      }
    }
    running = undefined
  }
  return {
    trigger() {
      if (isStopped) return
      isWanted = true
      running ??= turn()
    },
    async idle() {
      while (running) await running
    },
    stop() {
      isStopped = true
    },
  }
}
