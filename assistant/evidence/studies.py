"""What readers ask of studies of people, animals and cells, as `attributes.py` has it for papers of computer science.

The entries follow what the guidelines for reporting ask of such studies (CONSORT for trials, STROBE for observations,
ARRIVE for animals), since a reader asks what a careful report holds; an abstract has room for part of it.
"""

from assistant.evidence.attributes import Attribute, same_words

_SEXES = "wom[ae]n m[ae]n females? males? girls? boys? sex(?:es)? gender*"
_GROUPS = "ethnic* rac(?:e|es|ial) black white african* hispanic* latin[ao]* asian* caucasian*"
_HOW_MANY_ARE = "(?:how_many|what_(?:share|proportion|percentage|fraction|part|number))_[^?]*\\b"

_PLACE = (
    r"(?:in|at|from|of|across)_(?:the_)?(?-i:[A-Z][a-z]{2,}) usa? uk hospital* clinic* universit* cent(?:er|re)s? "
    "cit(?:y|ies)"
)
_OF_A_COUNTRY = "(?-i:[A-Z][a-z]+(?:ish|ese|[ai]ans?|ch|i)) countr(?:y|ies) nation*"

SUBJECTS = (
    Attribute("(?:which|what|whose)_countr(?:y|ies)", f"{_PLACE} {_OF_A_COUNTRY}"),
    Attribute(
        r"(?:which|what)_(?:[\w-]+_)?(?:cit(?:y|ies)|towns?|hospitals?|clinics?|cent(?:er|re)s?|medical_schools?) "
        "in_which_region",
        _PLACE,
    ),
    Attribute(
        "sample_sizes?",
        "n(?=_?=) patients participants subjects individuals people adults wom[ae]n m[ae]n children infants students "
        "cases animals mice rats",
        valued=True,
    ),
    Attribute(
        "how_(?:old|young) ages? (?:mean|median|average)_ages?",
        r"age[ds]? \w+-(?:year|month|week|day)s?-olds? (?:years?|yrs?|y|months?|mo|weeks?|wks?|days?|d)"
        r"[_-](?:olds?|of_age) (?:[≥>≤<]_?|older_than_|younger_than_)\d+_(?:years?|months?) "
        r"\d+_(?:years?|months?)_(?:and|or)_\w+er",
        valued=True,
    ),
    Attribute(f"{_HOW_MANY_ARE}(?:wom[ae]n|m[ae]n|females?|males?|girls?|boys?)", _SEXES, valued=True),
    Attribute("(?:which|what)_(?:sex|gender) sex_ratio", _SEXES),
    Attribute("ethnic* (?:which|what)_race races racial", _GROUPS),
    Attribute(f"{_HOW_MANY_ARE}(?:black|white|hispanic|asian|caucasian)", _GROUPS, valued=True),
    Attribute("how_(?:much|heavy)_[^?]*weigh* body_weights?", "weigh* k?g", valued=True),
    Attribute("bmi body_mass_index", "bmi body_mass_index kg/m*", valued=True),
    Attribute(
        "strains? breeds? substrains?",
        r"strains? breeds? substrains? sprague-dawley wistar long-evans fischer lewis c57[a-z0-9/]* balb* fvb nod",
    ),
    same_words("genetic_background"),
    Attribute(
        "cell_lines?",
        r"cell_lines? hela hek[0-9]+ cho cos-\d jurkat (?-i:[A-Z]+[\w-]*\d\w*)_cells",
    ),
    Attribute(
        "(?:which|what)_(?:internal_)?organs?",
        "liver* hepat* kidney* renal lung* pulmon* heart* cardi* brain* spleen* intestin* gut colon stomach "
        "pancrea* skin muscle* bladder thym* ovar* test[ei]s uter* bone* retina*",
    ),
    same_words("diets? chow"),
    same_words("an(?:a)?esthe*"),
    Attribute("(?:what|which)_(?:(?:was|were)_the_)?(?:[a-z]+_)?stages?", "stage* grade*"),
    same_words("comorbid*"),
    same_words("smok*"),
    Attribute("(?:levels?|years)_of_education schooling", "educat* school*"),
    Attribute("incomes? socio-?economic", "incomes? socio-?economic depriv* pover* poor"),
)
_DESIGNS = (
    "randomi[sz]* cohort* case-control cross-sectional retrospective* prospective* observational double-blind trials? "
    "longitudinal review* survey* interview* qualitative meta-analys* case_(?:series|report)s? focus_groups? "
    "questionnaire* experiment* simulat* content_analysis stud(?:y|ies)"
)
DESIGN = (
    Attribute(
        "(?:which|what)_(?:questionnaires?|scales?|instruments?|inventor(?:y|ies))",
        "questionnaire* scale* instrument* inventor(?:y|ies) score* (?-i:[A-Z]{3,}-?[0-9]+)",
    ),
    Attribute("(?:study|trial|which|what|research)_designs?", _DESIGNS),
    Attribute("excluded exclusion_criteria exclude", "exclu* without except*"),
    Attribute("inclusion_criteria eligib*", "inclu* eligib* criteri* aged"),
    same_words("blind(?:ed|ing)"),
    Attribute("randomi[sz]ation_(?:method|ratio|procedure)s? how_[^?]*_randomi[sz]ed", "randomi[sz]* random allocat*"),
    same_words("placebo*"),
    same_words("power_(?:analys[ie]s|calculations?) sample_size_calculat*"),
    Attribute("follow-?up(?!_(?:question|stud))", "follow-?up followed", valued=True),
    Attribute(
        "drop(?:ped)?[_-]?outs? attrition lost_to_follow-?up withdrew withdrawals?",
        "drop(?:ped)?[_-]?outs? attrition lost_to_follow-?up withdr* discontinu* complet*",
    ),
    Attribute(
        "(?:which|what)_dates?",
        r"(?:19|20)\d\d january february march april may june july august september october november december",
    ),
    Attribute("response_rates?", "response_rates? respon(?:ded|ders?|dents?) return*", valued=True),
    Attribute("(?:trial_)?regist(?:ration|ry)_(?:number|id)s? (?:trial|prospectively)_registered", "nct[0-9]+ regist*"),
    Attribute("conflicts?_of_interests? competing_interests?", "conflicts?_of_interests? competing_interests?"),
)
INTERVENTION = (
    Attribute(
        "doses? dosages?", r"\d*_?(?:mg|g|kg|ml|iu|gy|microg|mcg|[μµ][gm]|[μµ]?mol|units?)(?:/\w+)?", valued=True
    ),
    Attribute(
        "route_of_administration how_(?:was|were|is|are)_[^?]*_administered",
        "oral* intraven* intramuscular* subcutaneous* intraperiton* inhal* topical* inject* infus* intra[a-z]*",
    ),
    Attribute("temperatures?", "temperatures? degrees? °_?c celsius", valued=True),
    Attribute("field_strength", r"field_strength tesla \d*(?:[.]\d)?[_-]?t", valued=True),
    Attribute("wavelengths?", "wavelengths? nm", valued=True),
    Attribute("manufactur* supplier* brands? vendors?", r"manufactur* suppli* inc ltd gmbh \([^)]*;[^)]*\)"),
)
OUTCOMES = (
    Attribute(
        "side[_-]effects? adverse_(?:effects?|events?|reactions?) complications toxicit(?:y|ies)",
        "side[_-]effects? adverse complicat* toxic* nephrotoxic* safe safety toler* harm* events?",
    ),
    Attribute(
        "p[_-]values? how_(?:\\w+_)?significant_(?:was|were|is|are)", "p(?=_?[<>=≤≥]) p-?values? ps(?=_?<)", valued=True
    ),
    Attribute("confidence_intervals?", "confidence_intervals? ci cis"),
    Attribute(
        r"how_many_[^?]*\b(?:die|died|deaths?|survived)",
        "die died deaths? mortality fatal* surviv* killed lethal*",
        valued=True,
    ),
    same_words("(?:length_of|hospital)_stay"),
    same_words("blood_loss"),
    Attribute("odds_ratios?", "odds ors? aor", valued=True),
    Attribute("hazard_ratios?", "hazards? hrs? ahr", valued=True),
    Attribute("(?:relative_risks?|risk_ratios?)", "relative_risks? risk_ratios? rrs?", valued=True),
    Attribute("kappa", "kappa", valued=True),
    Attribute("correlation_coefficients?", "correlat* r(?=_?=) rho kappa coefficients?", valued=True),
    same_words("sensitivity_(?:and_specificity|of) specificity"),
    Attribute(
        "statistical_(?:tests?|methods?|models?|analys[ie]s)",
        "anova ancova t-?tests? regression* cox chi-?squared? mann-whitney wilcoxon kaplan-meier fisher* logistic "
        "bayesian multivaria* univaria* multilevel mixed kappa log-?rank correlat* models? statistical_analys[ie]s",
    ),
    Attribute(
        "software statistical_packages? computer_program",
        r"software spss stata sas matlab python statview\w* programs?",
    ),
    Attribute("how_[^?]*stained (?:which|what)_stain*", "stain*"),
    Attribute("antibod(?:y|ies)", "antibod* anti-[a-z]*"),
    same_words("primers?"),
    same_words("magnification*"),
)
_DRUGS = (
    r"\w*(?:cillin|mycin|floxacin|cycline|azole|vir|mab|nib|pril|sartan|olol|statin|zepam|zolam|caine|codone|parin|"
    "platin|taxel|rubicin|glitazone|gliptin|oxetine|pramine|apine|idone|dronate|profen|fenac|metformin|insulin|aspirin|morphine|"
    "fentanyl|warfarin|steroids?|o?estrogens?|progest[a-z]*|estradiol|cortisone|interferon)"
)
"""Names of drugs and hormones, most of which end as their class does."""
_MATERIALS = (
    "kits? sero(?:type|var)s? vectors? plasmids? buffers? medi(?:um|a) electrodes? catheters? needles? lens(?:es)? "
    "seasons? sutures? devices? stain(?:s|ing)? dyes? scanners?"
)
MATERIALS = (
    Attribute(
        r"(?:which|what)_(?:[\w-]+_)?"
        "(?:drugs?|chemotherap[a-z]+|sedat[a-z]+|antibiotics?|medications?|opioids?|hormones?|antidepressants?|antipsychotics?)",
        _DRUGS,
    ),
    *(Attribute(rf"(?:which|what)_(?:[\w-]+_)?{material}", material) for material in _MATERIALS.split()),
)
STUDIES = (*SUBJECTS, *DESIGN, *INTERVENTION, *OUTCOMES, *MATERIALS)
