// Requests by which a consumer group notes how far a topic was read: for those that watch its lag.
import { apis, type KafkaRequest, usualLimits } from './kafka-request.ts'
import type { BrokerNode } from './topic-requests.ts'
import { WireWriter } from './wire-writer.ts'

/** The broker that keeps the offsets of the group. */
export function findCoordinator(group: string): KafkaRequest<BrokerNode & { readonly error: number }> {
  const of_groups = 0
  return {
    ...{ api: apis.find_coordinator, version: 3, isFlexible: true, ...usualLimits },
    body: new WireWriter().compactText(group).int8(of_groups).noTags().done(),
    read(answer) {
      answer.int32()
      const error = answer.int16()
      answer.compactText()
      return { error, id: answer.int32(), host: answer.compactText() ?? '', port: answer.int32() }
    },
  }
}

export type NextOffset = { readonly partition: number; readonly offset: bigint; readonly epoch: number }

/** Errors by partition. Of a group without members, as which it is not joined. */
export function commitOffsets(group: string, topic: string, next: readonly NextOffset[]): KafkaRequest<number[]> {
  const body = new WireWriter().compactText(group).int32(-1).compactText('').compactText(null)
  body.compactList([topic], (name) => {
    body.compactText(name)
    body.compactList(next, ({ partition, offset, epoch }) => {
      body.int32(partition).int64(offset).int32(epoch).compactText(null).noTags()
    })
    body.noTags()
  })
  return {
    ...{ api: apis.offset_commit, version: 8, isFlexible: true, body: body.noTags().done(), ...usualLimits },
    read(answer) {
      answer.int32()
      const topics = answer.compactList(() => {
        answer.compactText()
        const errors = answer.compactList(() => {
          answer.int32()
          const error = answer.int16()
          answer.tags()
          return error
        })
        answer.tags()
        return errors
      })
      return topics.flat()
    },
  }
}
