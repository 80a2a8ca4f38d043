/** Rules with their estimated costs. */
import { Badge, Empty } from "../ui/parts";
import { type Costs, formatCount, formatShare, type RuleCost, shortenPath } from "./costs";

const LIMIT = 10_000_000; // what one rule may cost

export function CostLine({ cost, limit = LIMIT }: { cost: RuleCost; limit?: number }) {
  if (cost.error !== undefined) return <p class="cost bad">does not compile: {cost.error}</p>;
  return (
    <p
      class="cost"
      title={`${formatCount(cost.once)} for one evaluation, ${formatCount(cost.times)} evaluations at most`}
    >
      <meter
        min={0}
        max={1}
        low={0.5}
        high={0.8}
        optimum={0}
        value={cost.cost / limit}
        aria-label="Part of the limit"
      />{" "}
      estimated cost {formatCount(cost.cost)}
      {cost.times > 1 && ` = ${formatCount(cost.once)} × ${formatCount(cost.times)}`}, {formatShare(cost.cost, limit)}{" "}
      of the limit
    </p>
  );
}

/** All rules of a version, the dearest first. */
export function CostTable({ costs, version }: { costs: Costs; version: string }) {
  const found = costs.versions.find((one) => one.name === version);
  if (found === undefined || found.rules.length === 0) return <Empty title="No rules" />;
  const rules = [...found.rules].sort((a, b) => b.cost + b.messageCost - (a.cost + a.messageCost));
  return (
    <>
      <p class="dim try-note">
        All rules together: {formatCount(found.total)}, {formatShare(found.total, costs.limits.total)} of what a schema
        may cost. Bounds such as maxItems and maxLength make rules cheaper.
      </p>
      <ul class="panel cost-list">
        {rules.map((one) => (
          <li key={`${one.path} ${one.rule}`}>
            <div>
              <strong>{shortenPath(one.path)}</strong>{" "}
              {one.cost > costs.limits.rule && <Badge tone="bad">over the limit</Badge>}
            </div>
            <code>{one.rule}</code>
            <CostLine cost={one} limit={costs.limits.rule} />
            {one.messageCost > 0 && <p class="cost">its message {formatCount(one.messageCost)}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}
