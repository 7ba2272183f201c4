// Lists every federation channel with its numbers, waiting messages and faults.
import * as z from 'zod'
import { channelStatus } from '../../../kernel/messaging/channel-status.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { listChannels } from '../../../shared/signal-cause/signal-cause-lists.ts'
import { carrierOf } from '../carrier-settings.ts'
import { transportsPart } from '../parts.ts'

const channel = channelStatus
  .extend({ transport: z.string().meta({ description: 'Carrier of its messages' }) })
  .meta({ id: 'Channel' })

export const list = operation({
  summary: 'List federation channels and their state',
  method: 'GET',
  path: '/api/v2/site/channel',
  input: listChannels.input,
  output: wholeListSchema(channel).meta({ id: 'ChannelList' }),
  errors: ['unavailable'],
  allow: 'channel:read',

  async run(call) {
    const all = call.part(transportsPart).map(async (transport) => {
      const channels = await transport.status()
      return channels.map((status) => ({
        transport: carrierOf(status.peer, (section) => call.settings(section)),
        ...status,
      }))
    })
    return wholeList((await Promise.all(all)).flat())
  },
})
