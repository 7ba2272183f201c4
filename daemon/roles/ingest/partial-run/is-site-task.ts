// Tasks that a site performs itself where another scheduler has their run: they need what no worker has.
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { sendingOperators } from '../http-target/model.ts'
import { findOperator } from '../operator/catalog.ts'
import { isIncremental } from '../operator/incremental-task.ts'
import { ingestHttp } from '../operator/ingest-http.ts'
import { ingestLandingZone } from '../operator/ingest-landing-zone.ts'

/** Places of the profile, with their credentials, and the landing zones. */
const operators_of_site: readonly string[] = [ingestHttp.name, ingestLandingZone.name, ...sendingOperators]

/** Those, the requests to other roles, and readings of what is new, whose cursors the site has. */
export function isSiteTask(task: Pick<DagTask, 'operator' | 'params'>): boolean {
  if (operators_of_site.includes(task.operator) || isIncremental(task)) return true
  return findOperator(task.operator)?.requests !== undefined
}
