// The deployment of a pipeline as a job.
import { claimConnection, freeConnections } from '../connection/claim-connection.ts'
import { listConnections } from '../connection/task-connection.ts'
import { refuseHttpPlaces } from '../http-target/find-http-target.ts'
import { syncZone } from '../landing-zone/change-zone.ts'
import { deploymentJobOf } from '../managed-dag/deployment-job.ts'
import { pipelines } from './model.ts'
import { readContent } from './read-content.ts'

export const deploymentJob = deploymentJobOf({
  name: 'deployment',
  collection: pipelines,
  read: readContent,
  claim: async (call, { id, value }, dag) =>
    refuseHttpPlaces(call, dag.tasks, value) ?? (await claimConnection(call, { id, label: value.label }, dag)),
  async release(call, doc, dag) {
    const { id, value } = doc
    await syncZone(call, doc, dag)
    const named = listConnections(dag.tasks)
    const former = value.dag ? listConnections(value.dag.tasks) : []
    await freeConnections(
      call,
      id,
      former.filter((each) => !named.includes(each)),
    )
  },
})
