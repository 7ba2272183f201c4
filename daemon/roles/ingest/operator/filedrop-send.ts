// Sends the dataset before it to a peer, in signed messages of the channel between both sites.
import * as z from 'zod'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { datasetName } from '../federation/model.ts'
import { operator } from './operator.ts'

export const filedropSend = operator({
  name: 'filedrop_send',
  summary: 'Send the dataset to a peer, in as many messages of its channel as the rows need',
  inputs: { min: 1, max: 1 },
  makes_dataset: false,
  requests: 'site',
  params: z.strictObject({
    peer: siteName.meta({ description: 'A peer of the site' }),
    dataset: datasetName.meta({ description: 'Name under which a pipeline of the peer takes it' }),
  }),
})
