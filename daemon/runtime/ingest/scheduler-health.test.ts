// The workflow scheduler in the health of the role: what it answers, and that it may not answer at all.
import { expect, test } from 'vitest'
import { DependencyProbes } from '../../boot/dependency-health.ts'
import type { WorkflowHealth } from '../../shared/workflow-scheduler/workflow-scheduler.ts'
import { checkEmbeddedScheduler, schedulerDependency } from './scheduler-health.ts'

const find = (health: (signal: AbortSignal) => Promise<WorkflowHealth>) =>
  new DependencyProbes({ timeout_ms: 10, reuse_ms: 0, now: () => 0 }).find(
    schedulerDependency({ kind: 'airflow', health }),
  )

test.each<[WorkflowHealth, string, string]>([
  [{ scheduler: 'healthy', metadatabase: 'healthy' }, 'ok', 'airflow: answers'],
  [{ scheduler: 'unhealthy', metadatabase: 'healthy' }, 'down', 'airflow: unhealthy'],
  [{ scheduler: 'healthy', metadatabase: 'unhealthy', detail: 'the disk is full' }, 'degraded', 'the disk is full'],
])('%o is %s', async (health, state, detail) => {
  expect(await find(async () => health)).toMatchObject({ name: 'workflow scheduler', state, detail })
})

test('one that does not answer in time, or that fails, is down, and its request is aborted', async () => {
  let signal: AbortSignal | undefined
  const silent = await find((given) => {
    signal = given
    return new Promise(() => undefined)
  })
  expect(silent).toMatchObject({ state: 'down', detail: 'no answer within 10 ms' })
  expect(signal?.aborted).toBe(true)
  expect(await find(() => Promise.reject(new Error('refused')))).toMatchObject({ state: 'down' })
})

test('the embedded scheduler is as healthy as its store', async () => {
  const store = (ok: boolean) => ({ health: async () => ({ ok, detail: 'the disk is full' }) })
  expect(await checkEmbeddedScheduler(store(true))).toEqual({ scheduler: 'healthy', metadatabase: 'healthy' })
  expect(await checkEmbeddedScheduler(store(false))).toMatchObject({ metadatabase: 'unhealthy' })
})
