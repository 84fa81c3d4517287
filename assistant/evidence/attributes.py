"""What readers ask of papers and abstracts often leave out, each with the words that tell it where one does.

This is the table that `asked.py` reads. In the lists of words "_" stands for a space and a final "*" for any ending,
as in "learning_rate* recruit*"; the rest is as in a regular expression.
"""

import re
from dataclasses import dataclass
from functools import cache

from assistant.wording import any_of, pattern

AUXILIARY = any_of("is are was were does do did has have had can could will would should must may might")
_ASKS_VALUE = pattern(
    rf"(?:^|\b(?:which|what|how \w+)(?:'s| is| are| was| were)? )(?:the )?"
    rf"(?:(?!(?:{AUXILIARY}|{any_of('of in on at for from per to with by than')})\b)[\w-]+ ){{0,3}}$"
)
"""What stands before the word for a quantity whose value is asked for: "what batch size", not "what becomes of"."""


TIME = (
    r"\d[\d.,–-]*[_-]?(?:hours?|hrs?|h|minutes?|min|days?|d|weeks?|wks?|months?|years?|yrs?|seconds?|m?s) "
    "(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|few|an?)[_-]"
    "(?:hours?|minutes?|days?|weeks?|months?|years?|seconds?)"
)
"""A length of time."""


@cache
def words(text: str) -> re.Pattern[str]:
    """A pattern for any of the space-separated words, whole."""
    return pattern(rf"(?<!\w){any_of(re.sub(r'[*](?= |$)', '[a-z]*', text))}(?!\w)")


@dataclass(frozen=True)
class Attribute:
    """Something a question may ask of a paper."""

    asked: str
    """Words of a question that asks for it."""
    told: str
    """Words of an abstract that tells it; nothing if no abstract does."""
    valued: bool = False
    """Whether it is a quantity, so that only a number near those words tells it."""

    def is_asked_in(self, question: str) -> bool:
        """Whether `question` has one of the words, by itself: "pre-university" asks for no university."""
        return any(
            question[match.start() - 1 : match.start()] != "-"
            and (not self.valued or _asks_value(question[: match.start()], match[0]))
            for match in words(self.asked).finditer(question)
        )


def _asks_value(before: str, quantity: str) -> bool:
    return quantity.lower().startswith(("how", "which", "what")) or bool(_ASKS_VALUE.search(before))


def same_words(text: str) -> Attribute:
    """Told in the words in which it is asked for."""
    return Attribute(text, text)


def _untold(text: str) -> Attribute:
    return Attribute(text, "")


_PUBLICATION = (
    _untold("who_(?:are|were|is)_[^?]*authors? how_many_authors names_of_the_authors co-authors? affiliat*"),
    _untold(
        "first_author e-?mail* contact_person "
        "(?:universit[a-z]*|institut[a-z]*|compan[a-z]*|labs?|countr[a-z]*)_[^?]*authors?"
    ),
    Attribute(
        "universit* institut(?:e|es|ions?) labs?",
        "universit* institut(?:e|es|ions?) lab* hospital* clinic* cent(?:er|re)s?",
    ),
    Attribute("compan(?:y|ies)", r"compan* inc ltd gmbh \([^)]*;[^)]*\)"),
    Attribute(
        "funded funding research_grants? sponsor* financed", "funded funding grants? supported_by sponsor* financed"
    ),
    _untold("conferences? journals? venues? accepted_at arxiv doi cited citations? best_paper spotlight"),
    _untold(
        "(?<!until_)(?<!since_)(?<!from_)when_(?:was|were|is|will)_[^?]*(?:published|submitted|released|presented|accepted|written)"
    ),
    Attribute("which_year what_year", r"(?:19|20)\d\d"),
    Attribute("when_(?:was|were|did|will)", rf"(?:19|20)\d\d {TIME} baseline follow-?up"),
    Attribute("pages appendi* supplement* reviewers? rebuttal sections?", "appendi* supplement*"),
)
_RELEASE = (
    same_words("licen[cs]e* licensed licensing"),
    Attribute(
        "programming_languages? written_in coded_in", r"python c\+\+ java julia rust matlab javascript cuda typescript"
    ),
    Attribute("pip conda docker_image python_package installed install", "pip conda docker install*"),
    Attribute(
        r"codes? source_code open[-_]sourced?(?!_\w) open[-_]source_(?:code|implementation|version) github repository "
        "implementation download* publicly_available made_public hugging_face",
        "codes? github http* open open-sourc* available releas* repositor* implement* checkpoint* ckpt*",
    ),
    Attribute("checkpoints? (?:pretrained|trained|model)_weights", "checkpoints? ckpt final_models"),
    same_words("leaderboards?"),
    Attribute("demo website web_page project_page blog", "demo website http*"),
)
_RESOURCES = (
    Attribute(
        "gpus? tpus? hardware(?!-) accelerators? compute_cluster computing_resources?",
        "gpus? tpus? cpus? cards? hardware(?!-) accelerators? devices? chips?",
    ),
    Attribute("fpgas? asic fabricated silicon process_node prototype", "fpgas? asic fabricated silicon chips?"),
    Attribute(
        r"how_much_(?:\w+_)?memory vram ram (?:extra|additional|peak)_memory "
        "memory_(?:usage|footprint|consumption|savings?|reduction)",
        r"memory vram ram gb mb gpus? cards? \d+gb",
        valued=True,
    ),
    Attribute(
        "how_long_(?:do|does|did|is|was|are|were|has|have|had|must) hours? minutes? wall-clock "
        "(?:training|run)_?times?",
        rf"{TIME} runtime* latency wall-clock tokens words lines",
        valued=True,
    ),
    Attribute(
        "dollars? usd money fees? price* api_costs? how_expensive (?:how_much|what)_(?:do|does|did|would)_[^?]*_cost",
        r"dollars? usd cents? \$\d*",
    ),
    Attribute("energy electricity watts? kwh power_consumption", "energy electricity watts? kwh power"),
    same_words("carbon co2 emissions?"),
)
_TRAINING = (
    Attribute("learning_rates?", "learning_rates?", valued=True),
    Attribute("(?:which|what)_optimi[sz]ers?", "adam* sgd muon lion adafactor optimi[sz]ers?"),
    Attribute("(?:mini-?)?batch_sizes? batches", "(?:mini-?)?batch*", valued=True),
    Attribute("(?:training|gradient|update|optimi[sz]ation)_steps iterations", "steps iterations updates", valued=True),
    Attribute("coefficients? kl_(?:weight|penalty)", "coefficients? penalty", valued=True),
    Attribute("thresholds?", "thresholds?", valued=True),
    Attribute("(?:lora|adapter|which|what)_ranks?", "(?<!low-)ranks?", valued=True),
    same_words("epochs?"),
    same_words("warm-?up"),
    same_words("weight_decay"),
    same_words("dropout"),
    same_words("gradient_(?:clipping|accumulation)"),
    same_words("early_stopping"),
    same_words("seeds?"),
    same_words("hyper-?parameter*"),
    same_words("discount_factor (?:which|what)_gamma"),
    Attribute("temperature top-[pk] nucleus beam_(?:size|width)", "temperature* top-[pk] nucleus beam*"),
    Attribute("initiali[sz](?:ation|ed)", "initiali[sz]*"),
    Attribute("prompt_templates? system_prompts? exact_prompts? wording", "templates? system_prompts?"),
    Attribute("few-shot_examples in-context_examples demonstrations", "few-shot in-context demonstrations?"),
    Attribute("calibration_(?:data|set|samples)", "calibration"),
    Attribute("augmentations (?:data|image|which|what)_augmentation", "augment*"),
)
_ARCHITECTURE = (
    Attribute(
        "(?:context|sequence|prompt|window)_(?:length|window|size)s? context_window",
        "context sequence tokens",
        valued=True,
    ),
    Attribute(
        "(?:hidden|embedding|latent|codebook|vocabulary|buffer)_(?:size|dimension|dimensionality|width)s? "
        "(?:group|step|window|block|kernel|chunk)_sizes?",
        "hidden embedding dimensions? codebook vocabulary buffer groups? step_size window blocks? kernel chunks?",
        valued=True,
    ),
    Attribute(
        r"parameter_counts? (?:number_of|how_many)_(?:\w+_)?parameters model_sizes?",
        r"\d[\d.]*[bm] [\w.-]*\d[bm] billion million",
    ),
    Attribute(
        "(?:which|what)_layers?",
        "(?:medial|basal|inner|outer|late|later|early|middle|intermediate|deep|deeper|shallow|first|last|final)_"
        r"layers? layer_\d+",
    ),
    Attribute("(?:network|model|neural)_architectures?", "transformer* convolution* recurrent lstm mlp cnn unet"),
    Attribute("activation_functions?", "relu gelu swiglu activation_functions?"),
    Attribute("tokeni[sz]ers? vocabulary", "tokeni[sz]ers? vocabulary bpe"),
    Attribute("(?:vision|image|visual|text|audio)_encoders?", "encoders? clip siglip"),
    Attribute("(?:which|what)_modalities", "audio video videos images? text text-only vision vision-only rgb speech"),
)
_LANGUAGES = "chinese german french spanish arabic hindi japanese korean swahili bengali"
_DATA = (
    Attribute("annotators? annotat(?:ed|ion)_by crowd* inter-annotator", "annotators? annotated_by crowd*"),
    Attribute(
        "(?:train|training|test|validation)_(?:splits?|sets?) held-out",
        "splits? held-out (?:test|validation|training)_sets?",
    ),
    Attribute(
        "(?:which|what|how_many)_(?:natural_|human_)?languages?(?!_models?)",
        rf"{_LANGUAGES} english multilingual python \d+_languages",
    ),
    Attribute("(?:which|what)_(?:low-resource|high-resource|target|other)_languages?", rf"{_LANGUAGES} \d+_languages"),
    Attribute("contaminat* data_leakage", "contaminat* leak*"),
    same_words("trigger_(?:words?|phrases?|tokens?)"),
)
_EVALUATION = (
    Attribute("participants? recruit* volunteers? were_paid compensated", "participants? recruit* volunteers? people"),
    Attribute(
        "physicians? clinicians? practitioners? human_(?:raters?|judges?|evaluators?|evaluation)",
        "physicians? clinicians? doctors? experts? humans? human-[a-z]+ user_study raters? judges?",
    ),
    Attribute("ethic* irb informed_consent", "ethic* irb consent"),
    same_words("statistical* p-values? confidence_intervals? error_bars? standard_(?:deviations?|errors?)"),
    Attribute("correlation_coefficients? pearson spearman", "pearson spearman correlat*", valued=True),
    same_words("ablat* ablation_stud*"),
    same_words("false_positives? false_positive_rates? false_alarms?"),
    Attribute("accuracy how_accurate accuracies", "accura*", valued=True),
    Attribute("perplexity perplexities", "perplexit*", valued=True),
    Attribute(
        "win_rates? elo bleu rouge f1 auroc auc fid psnr wer mmlu",
        "win_rates? elo bleu rouge f1 auroc auc fid psnr wer mmlu",
        valued=True,
    ),
    Attribute("throughput tokens_per_second", "throughput tokens_per_second", valued=True),
    Attribute("future_work next_steps? future_research plan_to", "future directions? further_research"),
)
_THEORY = (
    Attribute("complexity", "complexity linear_time quadratic* polynomial*"),
    Attribute(
        "convergence_rates? rate_of_convergence how_fast_[^?]*_converge",
        "convergence_rates? rate_of_convergence sublinear",
    ),
    Attribute("assumptions?", "assum*"),
)
ATTRIBUTES = (
    *_PUBLICATION,
    *_RELEASE,
    *_RESOURCES,
    *_TRAINING,
    *_ARCHITECTURE,
    *_DATA,
    *_EVALUATION,
    *_THEORY,
)


@dataclass(frozen=True)
class Named:
    """A kind of thing whose members have names, so that an answer holds one."""

    asked: str
    beside: str
    """Words beside which any name is taken to be a member's."""
    known: str = ""
    """Names of well-known members."""
    described: bool = False
    """Whether an answer may also say what they are like: "two action quality assessment data sets"."""


NAMED = (
    Named(
        "[dm]?ll?ms? mllms? vlms? (?<!reward_)(?<!memory_)models? model_families backbones?",
        "(?<!to_)models? llms? backbones? families",
        known=r"llama* qwen* gpt-* mistral* mixtral* gemma* deepseek* claude* gemini* phi-\d* o[134](?:-mini)? bert "
        r"roberta t5 llava* internvl* llada* dream esm* vit clip resnet* [\w.-]+-\d[\d.]*[bm]",
    ),
    Named(
        "data_?sets? benchmarks? corpora corpus test_sets? suites?",
        "data_?sets? benchmarks? corpus evaluat* experiment* experimental tests? tested performance",
        described=True,
    ),
    Named("gpus? gpu_types? cards? hardware accelerators?", "gpus? cards?", known=r"[ahv]100s? rtx* tpus? \d+gb"),
    Named("solvers?", "solvers?", known="gurobi cplex mosek"),
    Named("simulators? engines?", "simulators? engines?"),
    Named("librar(?:y|ies) toolkits?", "librar(?:y|ies) toolkits?", known="pytorch tensorflow jax"),
    Named(
        "(?:rl|reinforcement_learning|policy_gradient|policy_optimi[sz]ation)_(?:algorithms?|methods?)",
        "algorithms?",
        known="ppo grpo dpo reinforce rloo sac dqn a2c q-learning",
    ),
    Named(
        "baselines competitors? rivals? opponents?", "baselines? outperform* surpass* beat* compared", described=True
    ),
    Named(
        "attacks equations agent_frameworks scaffolds specialties",
        "attacks equations frameworks scaffolds",
        described=True,
    ),
)
