// The step of a deployment that commits its content to the pending path of the DAG repository.
import { completeStep } from '../../../kernel/job/rules.ts'
import { dagFileName } from '../../../shared/dag-repository/dag-file-name.ts'
import { dagRepositoryPart } from '../../../shared/dag-repository/dag-repository.ts'
import { faultPointPart } from '../parts.ts'
import { languageOf } from './content-reading.ts'
import { fileOf } from './dag-file.ts'
import type { Deployment } from './deployment-job.ts'
import { changeOf, endWithFault } from './end-deployment.ts'
import { noteOf, orWait } from './use-repository.ts'

export async function proposeContent(deployment: Deployment): Promise<undefined> {
  const { call, collection, doc, reading } = deployment
  const { id: uid, value } = doc
  const change = changeOf(call, collection, uid)
  if ('error' in reading) {
    await change((stored) => endWithFault(stored, 'error', reading.error, call.nowIso()))
    return undefined
  }
  const { dag_id, deployments } = value
  const file = { uid, name: dagFileName(fileOf(doc), languageOf(reading)), text: reading.text }
  const note = noteOf(call, `Propose ${dag_id}, deployment ${deployments}`)
  const commit = await orWait(deployment, call.part(dagRepositoryPart).propose(file, note))
  if (commit === undefined) return undefined
  call.part(faultPointPart)('ingest-deploy-proposed')
  await change((stored) => completeStep({ ...stored, proposal: { commit, looks: 0, outages: 0 } }))
  return undefined
}
