// Looks again and again while the screen is open, one look at a time.
import { useEffect, useState } from 'react'
import { type AdminSnapshot, type AdminSource, fetchAdminSnapshot, fetchExplanation } from './admin-snapshot.ts'

const poll_interval_ms = 1_500

/** The last look at the sessions in this state; undefined until there is one. A new filter looks at once. */
export function useAdminSnapshot(source: AdminSource, filter: string | undefined): AdminSnapshot | undefined {
  const [seen, setSeen] = useState<AdminSnapshot>()
  useEffect(() => {
    let isOver = false
    let timer: NodeJS.Timeout | undefined
    const again = async () => {
      const found = await fetchAdminSnapshot(source, filter)
      if (isOver) return
      setSeen((before) => (JSON.stringify(before) === JSON.stringify(found) ? before : found))
      timer = setTimeout(again, poll_interval_ms)
    }
    void again()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [source, filter])
  return seen
}

/** Why the session is in conflict, as prose; undefined while nobody asks and until it is there. */
export function useExplanation(source: AdminSource, dissent: string | undefined): string | undefined {
  const [told, setTold] = useState<{ readonly of: string; readonly text: string }>()
  useEffect(() => {
    if (dissent === undefined) return undefined
    let isOver = false
    const ask = async () => {
      const text = await fetchExplanation(source, dissent)
      if (!isOver) setTold({ of: dissent, text })
    }
    void ask()
    return () => {
      isOver = true
    }
  }, [source, dissent])
  return told !== undefined && told.of === dissent ? told.text : undefined
}
