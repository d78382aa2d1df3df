/** Checks scheduled methods: a provider has them, their schedules can be read, and they take no parameters (contract 2.12). */
import { canonicalSchedule, namedWeekdays, scheduleFault } from '../../src/wire/cron.ts'
import { type Application, listings } from '../application.ts'
import { type ClassDeclaration, hasRole, type Member, type Span, text } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { declaredCrons } from '../routes.ts'
import { checkArguments, type Form } from './options.ts'

const argument = { form: { is: 'string' } as Form, what: 'a schedule', required: "@Cron('0 3 * * *')" }

export function checkCrons(application: Application): Refusal<Span>[] {
  const { byId, declarations, answers } = application
  const constructed = new Set(listings(application, 'providers').map(({ declaration }) => declaration))
  return declarations.classes.flatMap((declaration) => {
    const answer = constructed.has(declaration) ? undefined : answers.get(declaration.id)
    const isBase = answer !== undefined && basesOf(byId, answer).includes(declaration) // refused as inherited
    return [
      ...checkInherited(byId, declaration),
      ...declaration.members.flatMap((member) => checkMember(declaration, member, isBase ? undefined : answer)),
    ]
  })
}

/** @param answer the class that a recipe constructs in place of this one. */
function checkMember(
  declaration: ClassDeclaration,
  member: Member,
  answer: ClassDeclaration | undefined,
): Refusal<Span>[] {
  const { name } = member
  const refused: Refusal<Span>[] = []
  const first = new Map<string, Span>()
  for (const { decorator, schedule } of declaredCrons({ ...declaration, members: [member] })) {
    if (!decorator.isCalled) continue
    const role = (['Controller', 'Webhook', 'Module'] as const).find((one) => hasRole(declaration, one))
    if (role !== undefined || !hasRole(declaration, 'Injectable')) {
      refused.push(refusal('cron-misplaced', decorator.place, { name, className: declaration.name, role }))
    } else if (answer) {
      const about = { name, className: declaration.name, answer: answer.name }
      refused.push(refusal('cron-misplaced', decorator.place, about))
    }
    refused.push(...checkArguments(decorator, [argument]))
    const given = text(schedule)
    if (given === undefined) continue
    refused.push(...checkSchedule(given, schedule!.place))
    const key = canonicalSchedule(given)
    const place = first.get(key)
    if (place) {
      const related = [{ message: 'the first is here', place }]
      refused.push(refusal('cron-schedule-twice', schedule!.place, { name, schedule: given }, related))
    } else first.set(key, schedule!.place)
  }
  const [parameter] = member.parameters
  if (parameter && member.decorators.some((decorator) => decorator.name === 'Cron')) {
    refused.push(refusal('cron-with-parameters', parameter.place, { name, parameter: parameter.name }))
  }
  return refused
}

function checkSchedule(schedule: string, place: Span): Refusal<Span>[] {
  const fault = scheduleFault(schedule)
  if (fault) return [refusal('cron-schedule-malformed', place, { schedule, ...fault })]
  const named = namedWeekdays(schedule)
  return named === undefined ? [] : [refusal('cron-weekday-numbered', place, { schedule, named })]
}

/** The build reads schedules only from the class that declares them, so a subclass would not run them. */
function checkInherited(byId: Application['byId'], declaration: ClassDeclaration): Refusal<Span>[] {
  const { base, name } = declaration
  const scheduled = basesOf(byId, declaration).find((one) => declaredCrons(one).length > 0)
  if (!scheduled) return []
  const related = [{ message: 'such a schedule', place: declaredCrons(scheduled)[0]!.decorator.place }]
  return [refusal('crons-inherited', base!.place, { name, base: scheduled.name }, related)]
}

/** The classes of the project that a class extends, the nearest one first. */
function basesOf(byId: Application['byId'], { base }: ClassDeclaration): ClassDeclaration[] {
  const bases: ClassDeclaration[] = []
  for (let at = base && byId.get(base.id); at && !bases.includes(at); at = at.base && byId.get(at.base.id)) {
    bases.push(at)
  }
  return bases
}
