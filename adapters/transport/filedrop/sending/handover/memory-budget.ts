// A memory budget that all peers share: reservations wait in order until enough is free.

export type MemoryBudget = {
  /** Resolves when so much is free, with how to give it back. More than there is at all counts as all there is. */
  reserve(bytes: number): Promise<() => void>
}

export function memoryBudget(total_bytes: number): MemoryBudget {
  let free = total_bytes
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = []
  const letIn = () => {
    for (let first = waiting[0]; first && first.bytes <= free; first = waiting[0]) {
      waiting.shift()
      free -= first.bytes
      first.enter()
    }
  }
  return {
    async reserve(requested) {
      const bytes = Math.min(requested, total_bytes)
      await new Promise<void>((enter) => {
        waiting.push({ bytes, enter })
        letIn()
      })
      let isHeld = true
      return () => {
        if (isHeld) free += bytes
        isHeld = false
        letIn()
      }
    },
  }
}
