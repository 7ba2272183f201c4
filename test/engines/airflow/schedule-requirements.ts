// Requirements of schedules on a real Airflow: its scheduler DAG ticks, and the site triggers what is due.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { list as dagList } from '../../../daemon/roles/ingest/dag/list.ts'
import { metrics } from '../../../daemon/roles/ingest/datapipeline/metrics.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { get as getSchedule } from '../../../daemon/roles/ingest/datapipeline-schedule/get.ts'
import { set as setSchedule } from '../../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import type { LineageEvent } from '../../../daemon/roles/ingest/lineage/open-lineage.ts'
import { runMetrics } from '../../../daemon/roles/ingest/run-metric/model.ts'
import { newest_tick, scheduleTicks } from '../../../daemon/roles/ingest/schedule-tick/model.ts'
import { deployTasks, waitFor } from '../../support/ingest/scheduler-world.ts'
import type { AirflowRequirement } from './connection-requirements.ts'

export const scheduleRequirements: readonly AirflowRequirement[] = [
  {
    description: 'reads the scheduler DAG of the site, whose ticks alone trigger a due pipeline, once, for its owner',
    async verify(world) {
      const { person, site, dags, lineage } = world
      world.writeFile('scheduled.csv', 'id,name\n1,Ann\n')
      const tasks = [{ name: 'read', operator: 'ingest_file', params: { file: 'scheduled.csv' } }]
      const uid = await deployTasks(world, 'scheduled', tasks)
      expect(existsSync(path.join(dags, 'platform_scheduler_alpha.py'))).toBe(true)
      const { items } = await person.ok(dagList, {})
      expect(items).toContainEqual(
        expect.objectContaining({ dag_id: 'platform_scheduler__alpha', is_paused: false, is_active: true }),
      )
      const readTick = async () => (await site.store('ingest').get(scheduleTicks, newest_tick))?.value
      const first = await waitFor(readTick)
      const owner = await site.as({ subject: 'olga', roles: ['operator'] })
      const { next_scheduled_run: due } = await owner.ok(setSchedule, { uid, schedule: '* * * * *' })
      const { trigger_id } = await waitFor(async () => {
        const shown = await owner.ok(getSchedule, { uid })
        return shown.status === 'running' && shown
      })
      await owner.ok(setSchedule, { uid, schedule: null })
      const tick = await readTick()
      expect(tick?.at).not.toBe(first.at)
      expect(tick?.noticed_ts).toBeGreaterThanOrEqual(Date.parse(due ?? '') - 60_000)
      expect(JSON.parse(readFileSync(path.join(dags, '../../worker/ticks/alpha.json'), 'utf8'))).toMatchObject({
        site: 'alpha',
      })
      const measured = await waitFor(async () => (await person.ok(metrics, { uid })).items[0])
      expect(measured).toMatchObject({ dag_run_id: trigger_id, run_type: 'scheduled', state: 'success', rows: 1 })
      expect(await person.ok(runs, { uid })).toMatchObject({ items: [{ dag_run_id: trigger_id }], total: 1 })
      const readEvents = (): LineageEvent[] =>
        readFileSync(lineage, 'utf8')
          .split('\n')
          .filter((line) => line.includes('"scheduled'))
          .map((line) => JSON.parse(line))
      const events = await waitFor(async () => readEvents().length > 0 && readEvents())
      expect(events.map(({ eventType, job }) => `${eventType} ${job.name}`)).toEqual([
        ...['START scheduled', 'START scheduled.read', 'COMPLETE scheduled.read', 'COMPLETE scheduled'],
      ])
      expect(events[2]?.inputs).toMatchObject([{ name: 'file/scheduled.csv' }])
      const { docs } = await site.store('ingest').list(runMetrics, { filter: { object: uid }, limit: 9 })
      expect(docs.map(({ value }) => value.created_by)).toEqual(['olga'])
    },
  },
]
