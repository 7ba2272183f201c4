// Polls the site while the screen is open, one request at a time.
import { useEffect, useState } from 'react'
import {
  type AdminSnapshot,
  type AdminSource,
  type ExplainingObject,
  fetchAdminSnapshot,
  fetchExplanation,
} from './admin-snapshot.ts'

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

/** The explanation of a row as prose; undefined where no object explains it, and until it is loaded. */
export function useExplanation(source: AdminSource, object: ExplainingObject | undefined): string | undefined {
  const key = object && JSON.stringify(object)
  const [explanation, setExplanation] = useState<{ readonly key: string; readonly text: string }>()
  useEffect(() => {
    if (key === undefined) return undefined
    let isOver = false
    const load = async () => {
      const text = await fetchExplanation(source, JSON.parse(key))
      if (!isOver) setExplanation({ key, text })
    }
    void load()
    return () => {
      isOver = true
    }
  }, [source, key])
  return explanation !== undefined && explanation.key === key ? explanation.text : undefined
}
