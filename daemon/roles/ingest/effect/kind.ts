// Effects as objects that manage a DAG.
import type { ManagedKind } from '../managed-dag/kind.ts'
import { effectState, effects, effectView, type StoredEffect } from './model.ts'
import { showEffect } from './view.ts'

export const effectKind: ManagedKind<StoredEffect, typeof effectView, typeof effectState> = {
  object: 'effect',
  noun: 'an effect',
  nouns: 'effects',
  collection: effects,
  view: effectView,
  state: effectState,
  show: showEffect,
  showState: async (call, doc) => effectState.strip().parse(await showEffect(call, doc)),
}
