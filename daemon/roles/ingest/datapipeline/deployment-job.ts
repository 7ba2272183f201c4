// The deployment of a pipeline as a job.
import { deploymentJobOf } from '../managed-dag/deployment-job.ts'
import { pipelines } from './model.ts'
import { readContent } from './read-content.ts'

export const deploymentJob = deploymentJobOf({
  name: 'deployment',
  collection: pipelines,
  read: ({ content, dag_id }) => readContent(content, dag_id),
})
