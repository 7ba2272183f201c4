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

/** The explanation of a row in lines of prose; undefined where no object explains it, and until it is loaded. */
export function useExplanation(
  source: AdminSource,
  object: ExplainingObject | undefined,
): readonly string[] | undefined {
  const { kind, id, dag_id } = object ?? {}
  const [explanation, setExplanation] = useState<{ readonly id: string; readonly lines: readonly string[] }>()
  useEffect(() => {
    if (kind === undefined || id === undefined) return undefined
    let isOver = false
    const load = async () => {
      const lines = await fetchExplanation(source, { kind, id, ...(dag_id !== undefined && { dag_id }) })
      if (!isOver) setExplanation({ id, lines })
    }
    void load()
    return () => {
      isOver = true
    }
  }, [source, kind, id, dag_id])
  return explanation !== undefined && explanation.id === id ? explanation.lines : undefined
}
