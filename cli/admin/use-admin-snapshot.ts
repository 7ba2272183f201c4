// Polls the site while the screen is open, one request at a time.
import { useEffect, useState } from 'react'
import { type AdminSnapshot, type AdminSource, fetchAdminSnapshot, fetchExplanation } from './admin-snapshot.ts'

const poll_interval_ms = 1_500

/** The latest snapshot; undefined until the first. A new filter polls at once. */
export function useAdminSnapshot(source: AdminSource, filter: string | undefined): AdminSnapshot | undefined {
  const [snapshot, setSnapshot] = useState<AdminSnapshot>()
  useEffect(() => {
    let isOver = false
    let timer: NodeJS.Timeout | undefined
    const poll = async () => {
      const latest = await fetchAdminSnapshot(source, filter)
      if (isOver) return
      setSnapshot((previous) => (JSON.stringify(previous) === JSON.stringify(latest) ? previous : latest))
      timer = setTimeout(poll, poll_interval_ms)
    }
    void poll()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [source, filter])
  return snapshot
}

/** Explanation of a dissent as prose; undefined without a dissent, and until it is loaded. */
export function useExplanation(source: AdminSource, dissent: string | undefined): string | undefined {
  const [explanation, setExplanation] = useState<{ readonly dissent: string; readonly text: string }>()
  useEffect(() => {
    if (dissent === undefined) return undefined
    let isOver = false
    const load = async () => {
      const text = await fetchExplanation(source, dissent)
      if (!isOver) setExplanation({ dissent, text })
    }
    void load()
    return () => {
      isOver = true
    }
  }, [source, dissent])
  return explanation !== undefined && explanation.dissent === dissent ? explanation.text : undefined
}
