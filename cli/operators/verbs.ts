/** The verbs about the operators of a stack: users whose own tokens may administer it (contract 9.7). */
import { operators as operations } from '../../src/wire/operations.ts'
import { type HttpVerb, httpVerb } from '../shared/http-verb.ts'
import { type Group, jsonFlag, targetFlags } from '../shared/verb.ts'

const user = { '<user_id>': 'the id of the user, like usr_01ja…' }
const flags = () => [...targetFlags(), jsonFlag('accepted for scripts: the result is always JSON on stdout')]

const rows: HttpVerb[] = [
  {
    name: 'operators add',
    positionals: user,
    summary: 'let a user administer the stack with tokens of their own',
    operation: operations.add,
    examples: ['stack operators add usr_01ja'],
  },
  {
    name: 'operators remove',
    positionals: user,
    summary: 'end that, which counts from the next call on',
    operation: operations.remove,
    destroys: (id) => `remove the operator ${id}`,
    examples: ['stack operators remove usr_01ja'],
  },
  {
    name: 'operators list',
    summary: 'list the operators',
    operation: operations.list,
    examples: ['stack operators list', 'stack operators list --env staging'],
  },
]

export const operators: Group = {
  summaries: { operators: 'name the users who may administer a stack' },
  verbs: rows.map((row) => httpVerb(row, flags)),
}
