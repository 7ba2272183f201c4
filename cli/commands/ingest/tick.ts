// Lets a site evaluate its schedules: the command of the scheduler DAG, on a worker of Airflow.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { instant, required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'ingest tick',
  summary: 'Let a site evaluate its schedules, from a worker',
  notes: [
    'Workers of Airflow call this for each run of the scheduler DAG of a site. The time is written to a file in DIR, which',
    'the site reads within seconds; it then triggers the pipelines and effects that are due by its own clock, each in the name of',
    'the owner of its schedule. The file holds no credential, and causes nothing else.',
  ].join('\n'),
  positionals: { name: required(text('NAME', 'Name of the site')) },
  options: {
    folder: required(text('DIR', 'Folder that the workers share with the site')),
    at: required(instant('TIME', 'Time that the tick is for')),
    ...jsonOption,
  },
  example: 'platform ingest tick alpha --folder /srv/ingest --at 2026-03-02T12:00:00Z',
  async run({ name: site, folder, at, json }, terminal) {
    const { writeTick } = await offline.ingestTick()
    const tick = writeTick({ folder, site, at })
    printResult(terminal, json, tick, () => formatFields(terminal, { site: tick.site, at: tick.at }))
    return 0
  },
})
