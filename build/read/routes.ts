/** Methods that carry a decorator of the SDK: routes of controllers, handlers of webhooks. */
import type { Member } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { MemberSyntax, SourceFile } from '../project.ts'
import { readMarks } from './marks.ts'

export function readMembers(program: Program, file: SourceFile, members: readonly MemberSyntax[]): Member[] {
  return members
    .map(({ name, place, unfit, decorators, parameters }) => ({
      name,
      place,
      unfit,
      marks: readMarks(program, file, decorators),
      parameters: parameters.map((parameter) => ({
        name: parameter.name,
        place: parameter.place,
        marks: readMarks(program, file, parameter.decorators),
      })),
    }))
    .filter(({ marks, parameters }) => marks.length > 0 || parameters.some((parameter) => parameter.marks.length > 0))
}
